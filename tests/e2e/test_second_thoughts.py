from __future__ import annotations

import httpx

from local.curl import QUEUE
from tests.e2e.jobs import JsonObject, claimed, enqueued, seen, work
from tests.e2e.running import Stack


def test_a_pending_job_is_cancelled_by_its_producer_and_never_claimed(empty: Stack) -> None:
    job = enqueued(empty)

    first = cancel(empty, job)
    again = cancel(empty, job)

    assert (first.status_code, again.status_code) == (200, 200)
    assert seen(empty, job)["status"] == "cancelled"
    assert empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]}).status_code == 204


def test_a_completed_job_cannot_be_cancelled(empty: Stack) -> None:
    job = enqueued(empty)
    assert work(empty, claimed(empty), "complete").status_code == 200

    assert cancel(empty, job).status_code == 409


def test_an_admin_gives_a_failed_job_another_chance(empty: Stack) -> None:
    job = enqueued(empty, max_retries=0)
    assert work(empty, claimed(empty), "fail", error="no such mailbox").status_code == 200
    assert seen(empty, job)["status"] == "failed"

    assert empty.call("producer", "POST", f"/jobs/{job['id']}/retry", {}).status_code == 403
    assert empty.call("admin", "POST", f"/jobs/{job['id']}/retry", {}).status_code == 200

    assert work(empty, claimed(empty), "complete").status_code == 200
    assert seen(empty, job)["status"] == "completed"
    assert empty.call("admin", "POST", f"/jobs/{job['id']}/retry", {}).status_code == 409


def cancel(stack: Stack, job: JsonObject) -> httpx.Response:
    return stack.call("producer", "POST", f"/jobs/{job['id']}/cancel", {})
