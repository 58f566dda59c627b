"""The API in memory, over HTTP: what the console asks of it, as the contract has it.

GET /console is answered by the real function. Everything is under a stage's path, as on a laptop.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from functions.show_console.app import lambda_handler
from jobqueue.job import parse_timestamp
from tests.console.jobs_in_memory import FINISHED, STATUSES, Jobs, Json

STAGE = "/_aws/execute-api/a1b2c3d4e5/$default"
ADMIN, PRODUCER, WORKER, OTHER = "jq_admin", "jq_producer", "jq_worker", "jq_other"
SUMMARY = (
    *("id", "type", "queue", "priority", "status", "retry_count", "max_retries", "available_at"),
    *("created_by", "created_at", "worker_id", "claimed_at", "finished_at"),
)
BRIEF = [*SUMMARY, "updated_at", "lease_expires_at", "cancel_requested", "progress"]
JSON, PROBLEM = "application/json", "application/problem+json"


class Refused(Exception):
    """A refusal: a problem of the API's own, or the gateway's message where there is no slug."""

    def __init__(self, status: int, slug: str | None, detail: str, **more: object) -> None:
        super().__init__(detail)
        self.status = status
        self.body: Json = {"message": detail}
        if slug is not None:
            told = {"type": f"urn:jobqueue:problem:{slug}", "title": slug, "status": status, "detail": detail}
            self.body = {**told, "request_id": "Umx5tgJcliAEPMg=", **more}


@dataclass
class FakeApi(Jobs):
    """The API, and faults to order.

    Attributes
    ----------
    down : bool
        Connections are cut without an answer.
    faults : list of int
        The status that the gateway answers the next calls with, one after another.
    revoked : set of str
        Keys that are not accepted any more.
    calls : list of tuple
        Method, path with query, and body of each call, but for GET /console.
    gate : Event
        Calls that change something wait for it.
    step : int
        How many jobs one retry in bulk retries at most.
    after_step : callable
        Called when one has.
    """

    down: bool = False
    faults: list[int] = field(default_factory=list)
    revoked: set[str] = field(default_factory=set)
    calls: list[tuple[str, str, Json]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)
    step: int = 100
    after_step: Callable[[FakeApi], None] = lambda _: None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gate.set()

    def changes(self) -> list[str]:
        """Return what was asked to be changed, as ``METHOD path``."""
        return [f"{method} {path}" for method, path, _ in self.calls if method != "GET"]

    def answer(self, method: str, target: str, authorization: str | None, body: Json) -> tuple[int, Json]:
        """Answer one call."""
        if method != "GET":
            self.gate.wait(30)
        with self.lock:
            self.calls.append((method, target, body))
            try:
                return 200, self._answer(method, target, authorization, body)
            except Refused as refusal:
                return refusal.status, refusal.body

    def _answer(self, method: str, target: str, authorization: str | None, body: Json) -> Json:
        key = self._allowed(authorization)
        path, _, query = target.partition("?")
        match method, *path.strip("/").split("/"):
            case "GET", "queues":
                return {"queues": [self.queue_view(name) for name in self.queues]}
            case "GET", "jobs":
                return self._listed(dict(parse_qsl(query)))
            case "GET", "jobs", job_id:
                return self._seen(self._job(job_id), key)
            case "POST", "jobs", job_id, ("retry" | "cancel") as verb:
                return self._changed(self._job(job_id), verb, key)
            case "POST", "queues", name, verb:
                return self._steered(name, verb, body, key)
        raise Refused(404, None, "Not Found")

    def _allowed(self, authorization: str | None) -> str:
        if self.faults:
            raise Refused(self.faults.pop(0), None, "Service Unavailable")
        if authorization is None:
            raise Refused(401, None, "Unauthorized")
        key = authorization.removeprefix("Bearer ")
        if key not in {ADMIN, PRODUCER, WORKER, OTHER} - self.revoked:
            raise Refused(403, None, "Forbidden")
        return key

    def _job(self, job_id: str) -> Json:
        job = self.by_id.get(unquote(job_id))
        if job is None:
            raise Refused(404, "job-not-found", "There is no such job.")
        return job

    def _seen(self, job: Json, key: str) -> Json:
        members = list(BRIEF)
        if key in {ADMIN, PRODUCER}:
            members += ["payload", "result", "idempotency_key"]
        if key == ADMIN:
            members += ["error", "errors"]
        return {member: job[member] for member in members}

    def _listed(self, query: dict[str, str]) -> Json:
        for name, known in (("type", self.types), ("queue", self.queues), ("status", STATUSES)):
            if name in query and query[name] not in known:
                error = {"field": f"query.{name}", "code": "unknown", "message": f"unknown {name}"}
                raise Refused(422, "invalid-request", "The request is not valid.", errors=[error])
        statuses = [query["status"]] if "status" in query else STATUSES
        jobs = [
            job
            for status in statuses
            for job in self.in_order(status)
            if query.get("queue") in {None, job["queue"]} and query.get("type") in {None, job["type"]}
        ]
        limit = int(query.get("limit", "20"))
        start = int(base64.b64decode(query["cursor"])) if "cursor" in query else 0
        end = start + limit
        cursor = base64.b64encode(str(end).encode()).decode() if end < len(jobs) else None
        return {
            "jobs": [{name: job[name] for name in SUMMARY} for job in jobs[start:end]],
            "next_cursor": cursor,
        }

    def _changed(self, job: Json, verb: str, key: str) -> Json:
        if verb == "retry":
            self._only_admins(key)
            if job["status"] not in {"failed", "cancelled"}:
                raise Refused(409, "job-not-retryable", f"The job is {job['status']}.")
            self.retry(job)
        elif job["status"] in FINISHED:
            raise Refused(409, "job-not-cancellable", f"The job is {job['status']}.")
        else:
            self.cancel(job)
        return self._seen(job, key)

    def _steered(self, name: str, verb: str, body: Json, key: str) -> Json:
        self._only_admins(key)
        if name not in self.queues:
            raise Refused(404, "queue-not-found", "There is no such queue.")
        if verb == "retry":
            failed = [job for job in self.in_order("failed") if job["queue"] == name]
            failed = [job for job in failed if body.get("type") in {None, job["type"]}]
            before = datetime.fromisoformat(body["finished_before"])
            failed = [job for job in failed if parse_timestamp(job["finished_at"]) < before]
            for job in failed[: min(self.step, body["limit"])]:
                self.retry(job)
            self.after_step(self)
            return {"retried": min(self.step, len(failed)), "skipped": 0, "more": len(failed) > self.step}
        (self.paused.add if verb == "pause" else self.paused.discard)(name)
        return {"name": name, "paused": name in self.paused}

    def _only_admins(self, key: str) -> None:
        if key != ADMIN:
            raise Refused(403, "role-not-allowed", "The role may not do this.")


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if urlsplit(self.path).path == f"{STAGE}/console":
            event = {"headers": {name.lower(): value for name, value in self.headers.items()}}
            answer = lambda_handler(event, None)
            body = answer["body"].encode()
            self._send(200, answer["headers"], base64.b64decode(body) if answer["isBase64Encoded"] else body)
        else:
            self._call("GET")

    def do_POST(self) -> None:
        self._call("POST")

    def _call(self, method: str) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.api.down or not self.path.startswith(STAGE):
            self.close_connection = True
            return
        target = self.path.removeprefix(STAGE)
        status, told = self.api.answer(method, target, self.headers.get("authorization"), body)
        media_type = PROBLEM if "type" in told and status >= 400 else JSON
        self._send(status, {"Content-Type": media_type}, json.dumps(told).encode())

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # a view that was left does not wait for its answer
            self.wfile.write(body)

    def log_request(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(api: FakeApi, port: int = 0) -> Iterator[str]:
    """Serve `api` and the console; give the console's address."""
    handler = type("Handler", (_Handler,), {"api": api})
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}{STAGE}/console"
        finally:
            server.shutdown()
            thread.join()
