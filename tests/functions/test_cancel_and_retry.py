"""POST /jobs/{id}/cancel and /retry."""

from __future__ import annotations

import pytest

from jobqueue.job import JobStatus
from jobqueue.principal import Principal
from tests.support.callers import admin, producer, worker
from tests.support.http import Stack


@pytest.mark.parametrize("caller", [producer("shop"), admin()], ids=["its producer", "admin"])
def test_cancel_a_waiting_job(stack: Stack, caller: Principal) -> None:
    job_id = stack.enqueue(producer("shop"))
    answer = stack.call("cancel_job", job_id, caller=caller)
    assert (answer.status, answer.json["status"]) == (200, "cancelled")
    assert answer.json["finished_at"] == "2026-11-30T02:26:02.123456Z"
    again = stack.call("cancel_job", job_id, caller=caller)
    assert (again.status, again.json) == (200, answer.json)


def test_cancel_a_running_job(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("cancel_job", job_id, caller=producer())
    assert (answer.json["status"], answer.json["cancel_requested"]) == ("running", True)
    done = stack.call("complete_job", job_id, caller=worker())
    assert done.json["status"] == "completed"


def test_anothers_job_is_not_there_to_cancel(stack: Stack) -> None:
    job_id = stack.enqueue(producer("shop"))
    for caller in (producer("other"), producer("shop", "emails"), admin("ops", "emails")):
        answer = stack.call("cancel_job", job_id, caller=caller)
        assert (answer.status, answer.problem) == (404, "job-not-found")
    assert stack.read(job_id).status is JobStatus.PENDING


def test_a_worker_cancels_nothing(stack: Stack) -> None:
    answer = stack.call("cancel_job", stack.enqueue(), caller=worker())
    assert (answer.status, answer.problem) == (403, "role-not-allowed")


@pytest.mark.parametrize("function", ["complete_job", "fail_job"])
def test_what_is_done_cannot_be_cancelled(stack: Stack, function: str) -> None:
    job_id = stack.enqueue(max_retries=0)
    stack.claim()
    stack.call(function, job_id, caller=worker())
    answer = stack.call("cancel_job", job_id, caller=admin())
    assert (answer.status, answer.problem) == (409, "job-not-cancellable")


def test_retry_a_failed_job(stack: Stack) -> None:
    job_id = stack.enqueue(max_retries=0)
    stack.claim()
    stack.call("fail_job", job_id, caller=worker(), body={"error": "it broke"})
    stack.clock.advance(60)
    answer = stack.call("retry_job", job_id, caller=admin())
    assert answer.status == 200
    job = answer.json
    assert (job["status"], job["retry_count"], job["error"], job["finished_at"]) == ("pending", 0, None, None)
    assert job["available_at"] == "2026-11-30T02:27:02.123456Z"
    assert [failure["error"] for failure in job["errors"]] == ["it broke"]
    assert stack.claim()["id"] == job_id


def test_retry_a_cancelled_job(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.call("cancel_job", job_id, caller=admin())
    assert stack.call("retry_job", job_id, caller=admin()).json["status"] == "pending"


def test_what_waits_runs_or_is_done_is_not_retried(stack: Stack) -> None:
    job_id = stack.enqueue()
    for step in (None, "claim", "complete"):
        if step == "claim":
            stack.claim()
        if step == "complete":
            stack.call("complete_job", job_id, caller=worker())
        answer = stack.call("retry_job", job_id, caller=admin())
        assert (answer.status, answer.problem) == (409, "job-not-retryable")


@pytest.mark.parametrize("caller", [producer(), worker()], ids=["producer", "worker"])
def test_only_admins_retry(stack: Stack, caller: Principal) -> None:
    answer = stack.call("retry_job", stack.enqueue(), caller=caller)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")


def test_retry_without_a_grant(stack: Stack) -> None:
    answer = stack.call("retry_job", stack.enqueue(), caller=admin("ops", "emails"))
    assert (answer.status, answer.problem) == (404, "job-not-found")
