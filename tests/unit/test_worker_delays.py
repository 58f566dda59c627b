"""What becomes of a job whose handler asks for a delay that is none."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from jobqueue.job import Job, JobStatus
from jobqueue.worker import RetryLater, Snooze
from jobqueue.worker.attempt import Outcome
from tests.support.payloads import Note
from tests.support.shifts import Site
from tests.support.workshop import Workshop

NO_DELAYS = [
    "90",
    b"90",
    None,
    True,
    [90],
    -0.5,
    float("nan"),
    float("inf"),
    float("-inf"),
    10**400,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    90j,
]


class Moody:
    """A number that cannot make up its mind."""

    def __float__(self) -> float:
        raise RuntimeError("not today")


def ended(workshop: Workshop, error: Exception) -> Job:
    """Let a handler raise `error`, and return its job after that; the next job is worked all the same."""

    def raises(job: Job, payload: Note) -> None:
        if payload.model_extra != {"n": 2}:
            raise error

    job, other = workshop.enqueue(payload={"n": 1}), workshop.enqueue(payload={"n": 2})
    assert Site(workshop, raises, concurrency=1).work() == {Outcome.RETRIED: 1, Outcome.COMPLETED: 1}
    assert workshop.get(other.id).status is JobStatus.COMPLETED
    return workshop.get(job.id)


@pytest.mark.parametrize("make", [RetryLater, Snooze])
@pytest.mark.parametrize("seconds", NO_DELAYS, ids=lambda value: repr(value)[:12])
def test_what_is_no_delay_is_refused_where_it_is_given(make: Any, seconds: Any) -> None:
    with pytest.raises(ValueError, match="seconds must be 0 to"):
        make(seconds)


@pytest.mark.parametrize("make", [RetryLater, Snooze])
@pytest.mark.parametrize("seconds", NO_DELAYS, ids=lambda value: repr(value)[:12])
def test_a_delay_that_was_changed_to_none_is_a_failure_that_tells_so(
    make: Any, seconds: Any, workshop: Workshop
) -> None:
    error = make(1)
    error.seconds = seconds
    job = ended(workshop, error)
    assert (job.status, job.retry_count) == (JobStatus.PENDING, 1)
    assert str(job.error).startswith(f"{make.__name__}: seconds must be 0 to ")


@pytest.mark.parametrize("make", [RetryLater, Snooze])
def test_a_delay_that_cannot_even_be_looked_at_is_a_failure(make: Any, workshop: Workshop) -> None:
    error = make(1)
    error.seconds = Moody()
    assert ended(workshop, error).error == make.__name__
