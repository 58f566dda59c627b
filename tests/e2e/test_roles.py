from __future__ import annotations

import pytest

from tests.e2e.jobs import claimed, email, enqueued, seen, work
from tests.e2e.running import Stack


@pytest.mark.parametrize("role", ["producer", "admin"])
@pytest.mark.parametrize("path", ["/jobs/claim", "/jobs/job_x/complete", "/jobs/job_x/fail"])
def test_only_a_worker_works(stack: Stack, role: str, path: str) -> None:
    answer = stack.call(role, "POST", path, {})

    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_worker_enqueues_nothing(stack: Stack) -> None:
    assert stack.call("worker", "POST", "/jobs", email()).status_code == 403


def test_a_credential_that_was_let_in_is_still_asked_for_its_role(stack: Stack) -> None:
    assert stack.call("producer", "POST", "/jobs", email()).status_code == 201
    assert stack.call("producer", "POST", "/jobs/claim", {}).status_code == 403


def test_a_producer_cannot_jump_the_queue(stack: Stack) -> None:
    answer = stack.call("producer", "POST", "/jobs", email(priority="critical"))

    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:jobqueue:problem:priority-not-allowed"


def test_the_reason_of_a_failure_is_for_admins(empty: Stack) -> None:
    job = enqueued(empty, max_retries=0)
    taken = claimed(empty)
    assert work(empty, taken, "fail", error="the disk is full").status_code == 200

    assert seen(empty, job, "admin")["error"] == "the disk is full"
    assert "the disk is full" not in str(seen(empty, job, "producer"))
    assert taken["lease_token"] not in str(seen(empty, job, "admin"))
