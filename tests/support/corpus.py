"""The corpus of requests in tests/corpora/requests: a file for each kind, and the answer that each must get.

A request is written as ``METHOD TARGET``, percent-encoded as a client sends it. What stands in braces is
replaced: ``{pending}`` is the id of the pending job, ``{token}`` the lease token of the running one (see
`Site`). A body is one of

- ``body``: a JSON value,
- ``text``: text, or a list of texts and of ``[text, times]``, for what would be long,
- ``hex``: bytes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from jobqueue.api import dependencies
from jobqueue.job import utc_now
from jobqueue.keys import create_key, open_keyring
from tests.support.gateway import Gateway
from tests.support.http import EMAIL, JOB_TYPES, Answer, Stack
from tests.support.template import ROOT

FOLDER = ROOT / "tests" / "corpora" / "requests"
_BODIES = {"body", "text", "hex"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One request of the corpus, and its answer.

    Attributes
    ----------
    kind, name : str
        The file, and what is tried.
    caller : str or None
        The name of an API key of the site, or nobody's.
    request : str
        Method and target.
    headers : sequence of (str, str)
        The others; without a Content-Type among them, it is ``application/json`` if there is a body.
    sent : bytes or None
        The body.
    status : int
        What must be answered.
    problem : str
        The name of the problem; empty if all is well, or if the gateway itself answers.
    fields : mapping
        The codes of a 422's field errors, by field.
    """

    kind: str
    name: str
    caller: str | None
    request: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    sent: bytes | None = None
    problem: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


def read_corpus() -> tuple[Case, ...]:
    """Return all requests."""
    return tuple(
        _case(path.stem, one)
        for path in sorted(FOLDER.glob("*.json"))
        for one in json.loads(path.read_text("utf-8"))
    )


def _case(kind: str, one: dict[str, Any]) -> Case:
    answer = one["answer"]
    assert one.keys() <= {"name", "caller", "request", "headers", "answer", *_BODIES}, one
    assert answer.keys() <= {"status", "problem", "fields"}, one
    return Case(
        kind=kind,
        name=one["name"],
        caller=one["caller"],
        request=one["request"],
        headers=tuple((name, value) for name, value in one.get("headers", ())),
        sent=_sent(one),
        **answer,
    )


def _sent(one: dict[str, Any]) -> bytes | None:
    if "body" in one:
        return json.dumps(one["body"]).encode()
    if "hex" in one:
        return bytes.fromhex(one["hex"])
    if "text" not in one:
        return None
    parts = [one["text"]] if isinstance(one["text"], str) else one["text"]
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts).encode()


class Site:
    """A deployment as every request of the corpus finds it: a job in each state, a key for each caller.

    Attributes
    ----------
    stack : Stack
        The deployment.
    names : dict
        What stands in braces.
    """

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._processes = ExitStack()
        self._keys = {
            "producer": create_key("shop", role="producer"),
            "other producer": create_key("store", role="producer"),
            "producer of emails": create_key("mail-shop", role="producer", queues=("emails",)),
            "worker": create_key("mailer", role="worker"),
            "other worker": create_key("printer", role="worker"),
            "worker of emails": create_key("mail-worker", role="worker", queues=("emails",)),
            "admin": create_key("ops", role="admin"),
            "admin of emails": create_key("mail-ops", role="admin", queues=("emails",)),
            "revoked": create_key("gone", role="admin"),
            "expired": create_key("late", role="admin", expires_in_days=1, clock=_two_days_ago),
        }
        open_keyring().revoke("gone")
        self.names = {f"key of {name}": key for name, key in self._keys.items()}
        self.names |= {name.replace(" ", "-"): job_id for name, job_id in _jobs(self).items()}
        running = stack.read(self.names["running"])
        self.names["token"] = str(running.lease_token)
        for caller in ("admin", "producer"):
            page = self.call(caller, "GET", "/jobs?limit=1").json
            self.names[f"cursor of {caller}"] = page["next_cursor"]
        self._items = {name: copy.deepcopy(dict(table.items)) for name, table in _tables().items()}
        self._written = _written()

    def send(self, case: Case) -> Answer:
        """Send a request of the corpus."""
        method, _, target = self.named(case.request).partition(" ")
        headers = [(name, self.named(value)) for name, value in case.headers]
        given = {name.lower() for name, _ in headers}
        if case.sent is not None and "content-type" not in given:
            headers.append(("Content-Type", "application/json"))
        if case.caller is not None and "authorization" not in given:
            headers.append(("Authorization", f"Bearer {self._keys[case.caller]}"))
        sent = case.sent
        if sent is not None and b"{" in sent:
            for name, value in self.names.items():
                sent = sent.replace(f"{{{name}}}".encode(), value.encode())
        headers = [(name, value) for name, value in headers if value != "(none)"]
        return Gateway(self.stack).request(method, target, headers, sent)

    def call(self, caller: str, method: str, target: str, body: Any = None) -> Answer:
        """Send another request."""
        sent = None if body is None else json.dumps(body).encode()
        headers = [("Authorization", f"Bearer {self._keys[caller]}"), ("Content-Type", "application/json")]
        return Gateway(self.stack).request(method, target, headers, sent)

    def named(self, text: str) -> str:
        """Return `text` with what stands in braces replaced."""
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def changes(self) -> int:
        """Return how many items are not as every request must find them, and make all so again."""
        was, now = self._written, _written()
        changed = sum(was.get(key) != now.get(key) for key in was.keys() | now.keys())
        if changed:
            for name, table in _tables().items():
                table.items.clear()
                table.items.update(copy.deepcopy(self._items[name]))
            # and what the process knew of the items is no longer so
            self.close()
            self.stack = Stack(self.stack.client)
            self._processes.enter_context(
                dependencies.using(self.stack.queue, JOB_TYPES, self.stack.operator)
            )
        return changed

    def close(self) -> None:
        """End the process that serves the site."""
        self._processes.close()


def _two_days_ago() -> datetime:
    return utc_now() - timedelta(days=2)


def _tables() -> dict[str, Any]:
    """Return moto's tables: to scan them twice for each request would take longer than all the rest."""
    tables: dict[str, Any] = dynamodb_backends["123456789012"]["us-east-1"].tables
    return {name: tables[name] for name in ("jobs", "queues")}


def _written() -> dict[tuple[str, Any], str]:
    """Return all items of jobs and of queues as text, by table and key."""
    return {
        (name, key): json.dumps(item.to_json(), sort_keys=True, default=str)
        for name, table in _tables().items()
        for key, item in table.items.items()
    }


def _jobs(site: Site) -> dict[str, str]:
    """Make a job in each state; the running ones are claimed last, so that no claim takes another."""
    jobs: dict[str, str] = {}

    def enqueue(name: str, caller: str = "producer", **body: Any) -> None:
        answer = site.call(caller, "POST", "/jobs", {"type": "note", "payload": {"is": name}, **body})
        assert answer.status == 201, answer.text
        jobs[name] = answer.json["id"]

    def claim(name: str, caller: str) -> dict[str, Any]:
        enqueue(name)
        answer = site.call(caller, "POST", "/jobs/claim", {"queues": ["default"], "lease_seconds": 43_200})
        assert answer.json["id"] == jobs[name]
        return dict(answer.json)

    def work(name: str, verb: str, **body: Any) -> None:
        held = {"lease_token": claim(name, "worker")["lease_token"], **body}
        assert site.call("worker", "POST", f"/jobs/{jobs[name]}/{verb}", held).status == 200

    work("completed", "complete", result={"n": 1})
    work("failed", "fail", error="no", discard=True)
    claim("running", "worker")
    claim("held by another", "other worker")
    enqueue("cancelled")
    assert site.call("admin", "POST", f"/jobs/{jobs['cancelled']}/cancel").status == 200
    enqueue("keyed", idempotency_key="known")
    enqueue("pending")
    enqueue("other", "other producer", type="report")
    enqueue("email", "producer of emails", type="email", payload=EMAIL)
    return jobs
