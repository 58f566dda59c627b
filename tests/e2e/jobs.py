"""Jobs that the tests of this folder make."""

from __future__ import annotations

from typing import Any

import httpx

from local.curl import QUEUE
from tests.e2e.running import Stack

JsonObject = dict[str, Any]


def email(**fields: Any) -> JsonObject:
    """Return the body of an enqueue, for a queue that no function of the stack works."""
    payload = {"to": "ada@example.com", "subject": "Hello", "body": "It works."}
    return {"type": "email", "queue": QUEUE, "payload": payload} | fields


def enqueued(stack: Stack, **fields: Any) -> JsonObject:
    """Enqueue a job and return it."""
    answer = stack.call("producer", "POST", "/jobs", email(**fields))
    assert answer.status_code == 201, answer.text
    job: JsonObject = answer.json()
    return job


def claimed(stack: Stack) -> JsonObject:
    """Claim the next job and return it."""
    answer = stack.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]})
    assert answer.status_code == 200, answer.text
    job: JsonObject = answer.json()
    return job


def work(stack: Stack, taken: JsonObject, verb: str, **fields: Any) -> httpx.Response:
    """Do something with a job that was claimed, under its lease."""
    body = {"lease_token": taken["lease_token"], **fields}
    return stack.call("worker", "POST", f"/jobs/{taken['id']}/{verb}", body)


def seen(stack: Stack, job: JsonObject, role: str = "admin") -> JsonObject:
    """Return the job as it is now."""
    answer = stack.call(role, "GET", f"/jobs/{job['id']}")
    assert answer.status_code == 200, answer.text
    found: JsonObject = answer.json()
    return found


def those(stack: Stack, status: str) -> list[JsonObject]:
    """Return up to a hundred jobs of a status."""
    answer = stack.call("admin", "GET", f"/jobs?queue={QUEUE}&status={status}&limit=100")
    assert answer.status_code == 200, answer.text
    jobs: list[JsonObject] = answer.json()["jobs"]
    return jobs
