"""Every operation in every state: what becomes of the job, or why the call is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import pytest

from jobqueue.errors import (
    InvalidRequest,
    JobNotCancellable,
    JobNotFound,
    JobNotHeld,
    JobNotRetryable,
    JobQueueError,
    ReplayMismatch,
)
from jobqueue.job import Job
from tests.support.workshop import MAILER, OPS, PRINTER, Workshop

Outcome: TypeAlias = str | type[JobQueueError]

STATES = (
    *("pending", "delayed", "running", "cancel_asked", "retries_spent"),
    *("completed", "failed", "cancelled"),
)
FOR_HOLDERS = ("complete", "fail", "release", "extend")
FOR_ADMINS = ("cancel", "retry")


def everywhere(default: Outcome, **others: Outcome) -> dict[str, Outcome]:
    """Return the outcome in every state: `default` but for the `others`."""
    return dict.fromkeys(STATES, default) | others


# "-": no error, and nothing changes
OUTCOMES: dict[str, dict[str, Outcome]] = {
    "claim": everywhere("-", pending="running"),
    "complete": everywhere(
        JobNotHeld,
        running="completed",
        cancel_asked="completed",
        retries_spent="completed",
        completed="-",
    ),
    "fail": everywhere(
        JobNotHeld,
        running="pending",
        cancel_asked="cancelled",
        retries_spent="failed",
        failed=ReplayMismatch,  # under the same lease it was discarded
    ),
    "release": everywhere(
        JobNotHeld,
        running="pending",
        cancel_asked="cancelled",
        retries_spent="pending",
        cancelled="-",
    ),
    "extend": everywhere(JobNotHeld, running="running", cancel_asked="running", retries_spent="running"),
    "cancel": everywhere(
        "-",
        pending="cancelled",
        delayed="cancelled",
        running="running",
        retries_spent="running",
        completed=JobNotCancellable,
        failed=JobNotCancellable,
    ),
    "retry": everywhere(JobNotRetryable, failed="pending", cancelled="pending"),
    "rescue": everywhere("-"),
}
LATE_OUTCOMES: dict[str, dict[str, Outcome]] = OUTCOMES | {
    "claim": everywhere("-", pending="running", running="running"),
    "rescue": everywhere("-", running="pending", cancel_asked="cancelled", retries_spent="failed"),
}
PAIRS = [(state, operation) for state in STATES for operation in OUTCOMES]


def job_in(state: str, workshop: Workshop) -> Job:
    """Bring a job into a state through the queue, and return it as its holder has it."""
    if state in {"pending", "delayed"}:
        return workshop.enqueue(delay_seconds=3600 if state == "delayed" else None)
    job = workshop.running(max_retries=0 if state == "retries_spent" else 3)
    match state:
        case "cancel_asked":
            workshop.queue.cancel(OPS, job.id)
        case "completed":
            workshop.queue.complete(MAILER, job.id)
        case "failed":
            workshop.queue.fail(MAILER, job.id, discard=True)
        case "cancelled":
            workshop.queue.cancel(OPS, job.id)
            workshop.queue.release(MAILER, job.id)
    return job


def operate(operation: str, workshop: Workshop, job: Job) -> object:
    """Call an operation on the job: as its holder under its lease, as an admin, or on whatever is there."""
    if operation == "claim":
        return workshop.queue.claim(PRINTER)
    if operation == "rescue":
        return workshop.rescuer.run()
    call: Any = getattr(workshop.queue, operation)
    return call(OPS, job.id) if operation in FOR_ADMINS else call(MAILER, job.id, lease_token=job.lease_token)


def check(workshop: Workshop, job: Job, call: Callable[[], object], outcome: Outcome) -> None:
    before = workshop.item(job.id)
    if isinstance(outcome, str):
        call()
        after = workshop.item(job.id)
        assert after["status"] == (before["status"] if outcome == "-" else outcome)
        assert (after == before) == (outcome == "-")
    else:
        with pytest.raises(outcome):
            call()
        assert workshop.item(job.id) == before


@pytest.mark.parametrize("state, operation", PAIRS)
def test_every_operation_in_every_state(state: str, operation: str, workshop: Workshop) -> None:
    job = job_in(state, workshop)
    workshop.clock.advance(1)
    check(workshop, job, partial(operate, operation, workshop, job), OUTCOMES[operation][state])


@pytest.mark.parametrize("state, operation", PAIRS)
def test_every_operation_when_the_lease_is_over(state: str, operation: str, workshop: Workshop) -> None:
    job = job_in(state, workshop)
    workshop.lose_lease()
    check(workshop, job, partial(operate, operation, workshop, job), LATE_OUTCOMES[operation][state])


@pytest.mark.parametrize("state", STATES)
def test_another_worker_and_another_token_change_nothing(state: str, workshop: Workshop) -> None:
    job = job_in(state, workshop)
    for operation in FOR_HOLDERS:
        call: Any = getattr(workshop.queue, operation)
        check(workshop, job, partial(call, PRINTER, job.id), JobNotHeld)
        check(workshop, job, partial(call, PRINTER, job.id, lease_token="token-none"), JobNotHeld)
        check(workshop, job, partial(call, MAILER, job.id, lease_token="token-none"), JobNotHeld)
        check(workshop, job, partial(call, MAILER, job.id, lease_token=""), JobNotHeld)


@pytest.mark.parametrize("job_id", ["", "job_nope", "x" * 3000, f"job_{'0' * 26}"], ids=len)
def test_what_does_not_exist_is_not_made_by_any_call(job_id: str, workshop: Workshop) -> None:
    for operation in FOR_HOLDERS:
        call: Any = getattr(workshop.queue, operation)
        for more in ({}, {"lease_token": "token-1"}):
            with pytest.raises(JobNotHeld):
                call(MAILER, job_id, **more)
    with pytest.raises(JobNotHeld):
        workshop.queue.extend(MAILER, job_id, lease_token="token-1", lease_seconds=60)
    for refused in (workshop.queue.get, workshop.queue.cancel, workshop.queue.retry):
        with pytest.raises(JobNotFound):
            refused(OPS, job_id)
    assert workshop.ids() == set()


@pytest.mark.parametrize("seconds", [-1, 10**12, float("inf"), float("nan")])
@pytest.mark.parametrize(
    "call",
    [
        lambda queue, job, seconds: queue.fail(MAILER, job.id, retry_in_seconds=seconds),
        lambda queue, job, seconds: queue.release(MAILER, job.id, delay_seconds=seconds),
        lambda queue, job, seconds: queue.extend(MAILER, job.id, lease_seconds=seconds),
        lambda queue, _, seconds: queue.claim(MAILER, lease_seconds=seconds),
    ],
    ids=["fail", "release", "extend", "claim"],
)
def test_a_time_out_of_range_changes_nothing(call: Any, seconds: float, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.enqueue()
    before = workshop.client.scan(TableName="jobs")["Items"]
    with pytest.raises(InvalidRequest) as refused:
        call(workshop.queue, job, seconds)
    assert [error.code for error in refused.value.errors] == ["out_of_range"]
    assert workshop.client.scan(TableName="jobs")["Items"] == before
