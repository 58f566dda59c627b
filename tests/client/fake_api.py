"""The job queue's API in memory: enough of its contract to run a worker against, and faults to order."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.client.fake_queue import FakeQueue, Json, Refused


def problem(status: int, slug: str, *, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    told = {"type": f"urn:jobqueue:problem:{slug}", "title": slug, "status": status, "request_id": "req-1"}
    return httpx.Response(
        status,
        json={**told, "detail": f"about {slug}", **more},
        headers={"content-type": "application/problem+json", **(headers or {})},
    )


def _route(request: httpx.Request) -> str:
    """Return the path without what the API's own URL has of it."""
    path = request.url.path
    found = [path.index(root) for root in ("/jobs", "/queues") if root in path]
    return path[min(found) :]


@dataclass
class Call:
    """One request as it arrived. `verb` is the last word of its path, or its method."""

    verb: str
    path: str
    body: Json
    at: float


@dataclass
class FakeApi(FakeQueue):
    """Give it to a client as ``transport=api.transport()``.

    Attributes
    ----------
    faults : list
        For each, a verb and what happens to its next call: ``"refused"`` (no connection), ``"lost"`` (done,
        and the answer is lost), or an answer in place of the API's.
    down : bool
        Nobody can connect.
    """

    down: bool = False
    faults: list[tuple[str, str | httpx.Response]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._handle)

    def add(self, job_type: str = "greet", **members: Any) -> str:
        """Put a pending job in."""
        with self._lock:
            return str(self.add_job({"type": job_type, **members})["id"])

    def ask_to_cancel(self, job_id: str) -> None:
        with self._lock:
            self.jobs[job_id]["cancel_requested"] = True

    def take_away(self, job_id: str) -> None:
        """Give the job's lease back, as rescue does when it ran out."""
        with self._lock:
            job = self.jobs[job_id]
            self.back_to_pending(job)
            job["retry_count"] += 1

    def times(self, verb: str) -> list[float]:
        return [call.at for call in self.calls if call.verb == verb]

    def status(self, job_id: str) -> str:
        return str(self.jobs[job_id]["status"])

    # -- HTTP

    def _handle(self, request: httpx.Request) -> httpx.Response:
        path = _route(request)
        verb = request.method.lower() if path == "/jobs" or request.method == "GET" else path.rsplit("/")[-1]
        with self._lock:
            self.calls.append(Call(verb, path, json.loads(request.content or b"{}"), self.monotonic()))
            if self.down:
                raise httpx.ConnectError("connection refused", request=request)
            fault = next((one for one in self.faults if one[0] == verb), None)
            if fault is None:
                return self._answer(request, verb)
            self.faults.remove(fault)
            if isinstance(fault[1], httpx.Response):
                return fault[1]
            if fault[1] == "lost":
                self._answer(request, verb)
                raise httpx.ReadTimeout("timed out", request=request)
            raise httpx.ConnectError("connection refused", request=request)

    def _answer(self, request: httpx.Request, verb: str) -> httpx.Response:
        body = json.loads(request.content or b"{}")
        parts = _route(request).strip("/").split("/")
        try:
            if parts[0] == "queues":
                return httpx.Response(200, json=self._queues(parts, verb, body))
            if verb == "get":
                return self._read(request, parts)
            if parts == ["jobs"]:
                status, job = self.post(body)
                return httpx.Response(status, json=job)
            if parts == ["jobs", "claim"]:
                claimed = self.take(body)
                if claimed is None:
                    return httpx.Response(204, headers={"retry-after": "7"})
                return httpx.Response(200, json=claimed)
            if parts[1] == "batch":
                return self._batch(verb if len(parts) == 3 else "enqueue", body)
            return httpx.Response(200, json=self.change(parts[1], verb, body))
        except Refused as refused:
            return problem(refused.status, refused.slug)

    def _queues(self, parts: list[str], verb: str, body: Json) -> Json:
        if parts == ["queues"]:
            return {"queues": [self.counted(name) for name in self.queues]}
        return self.change_queue(parts[1], verb, body)

    def _read(self, request: httpx.Request, parts: list[str]) -> httpx.Response:
        if len(parts) == 2:
            return httpx.Response(200, json=self.found(parts[1]))
        start = int(request.url.params.get("cursor", "0"))
        end = start + int(request.url.params["limit"])
        wanted = {
            name: request.url.params[name]
            for name in ("status", "queue", "type")
            if name in request.url.params
        }
        found = [
            job for job in self.jobs.values() if all(job[name] == value for name, value in wanted.items())
        ]
        cursor = str(end) if end < len(found) else None
        return httpx.Response(200, json={"jobs": found[start:end], "next_cursor": cursor})

    def _batch(self, verb: str, body: Json) -> httpx.Response:
        if verb == "claim":
            jobs = [job for job in (self.take(body) for _ in range(body["max_jobs"])) if job]
            return httpx.Response(200, json={"jobs": jobs})
        results: list[Json] = []
        for one in body["jobs"]:
            try:
                status, job = self.post(one) if verb == "enqueue" else (200, self._complete_one(one))
                results.append({"status": status, "job": job})
            except Refused as refused:
                told = problem(refused.status, refused.slug)
                results.append({"status": refused.status, "problem": told.json()})
        return httpx.Response(200, json={"results": results})

    def _complete_one(self, one: Json) -> Json:
        return self.change(one["id"], "complete", {k: v for k, v in one.items() if k != "id"})
