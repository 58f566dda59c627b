"""The state machine: what follows from a failure, a release, a cancel request, a retry and time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.errors import JobNotCancellable, JobNotRetryable
from jobqueue.job import JobStatus
from jobqueue.lifecycle import (
    Backoff,
    CancelAsked,
    Ended,
    Requeued,
    Unchanged,
    after_cancel,
    after_failure,
    after_release,
    after_retry,
    lease_ran_out,
    may_be_taken_over,
)
from jobqueue.settings import MAX_BACKOFF_BASE_SECONDS, MAX_BACKOFF_CAP_SECONDS
from tests.support.clock import START
from tests.support.samples import a_job

BACKOFF = Backoff(base_seconds=5, cap_seconds=900)
BACKOFFS = st.builds(
    Backoff,
    base_seconds=st.floats(0, MAX_BACKOFF_BASE_SECONDS),
    cap_seconds=st.floats(1, MAX_BACKOFF_CAP_SECONDS),
)
JITTER = st.floats(0, 1)
COUNTS = st.integers(0, 10) | st.integers(0, 10**30)
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)

CANCELLED, FAILED = Ended(status=JobStatus.CANCELLED), Ended(status=JobStatus.FAILED)


@given(BACKOFFS, COUNTS, JITTER)
def test_a_backoff_is_never_longer_than_its_cap(backoff: Backoff, retry_count: int, jitter: float) -> None:
    assert timedelta(0) <= backoff.delay(retry_count, jitter) <= timedelta(seconds=backoff.cap_seconds)


@given(BACKOFFS.filter(lambda backoff: backoff.base_seconds > 0), COUNTS, JITTER)
def test_a_backoff_with_a_base_is_never_nothing(backoff: Backoff, retry_count: int, jitter: float) -> None:
    assert backoff.delay(retry_count, jitter) >= MILLISECOND


@given(COUNTS, JITTER)
def test_a_base_of_zero_retries_at_once(retry_count: int, jitter: float) -> None:
    assert Backoff(base_seconds=0, cap_seconds=900).delay(retry_count, jitter) == timedelta(0)


@given(JITTER, JITTER, COUNTS)
def test_jitter_spreads_over_the_whole_wait(one: float, other: float, retry_count: int) -> None:
    shorter, longer = sorted((one, other))
    assert BACKOFF.delay(retry_count, shorter) <= BACKOFF.delay(retry_count, longer)


@pytest.mark.parametrize(
    "retry_count, seconds",
    [(0, 5), (1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 320), (7, 640), (8, 900), (2000, 900)],
)
def test_the_longest_wait_doubles_up_to_the_cap(retry_count: int, seconds: int) -> None:
    assert BACKOFF.delay(retry_count, 1.0) == timedelta(seconds=seconds)
    assert BACKOFF.delay(retry_count, 0.5) == timedelta(seconds=seconds / 2)
    assert BACKOFF.delay(retry_count, 0.0) == MILLISECOND


@given(COUNTS, st.integers(0, 10**30), BACKOFFS, JITTER)
def test_a_failure_is_retried_as_long_as_retries_are_left(
    retry_count: int, max_retries: int, backoff: Backoff, jitter: float
) -> None:
    job = a_job(status=JobStatus.RUNNING, retry_count=retry_count, max_retries=max_retries)
    decision = after_failure(job, START, backoff, jitter)
    if retry_count >= max_retries:
        assert decision == FAILED
    else:
        assert isinstance(decision, Requeued)
        assert decision.retry_count == retry_count + 1
        assert START <= decision.available_at <= START + timedelta(seconds=backoff.cap_seconds)


def test_a_job_without_retries_fails_the_first_time() -> None:
    assert after_failure(a_job(max_retries=0), START, BACKOFF, 0.5) == FAILED


def test_a_worker_may_set_the_wait() -> None:
    decision = after_failure(a_job(), START, BACKOFF, 0.5, retry_in_seconds=90)
    assert decision == Requeued(available_at=START + 90 * SECOND, retry_count=1)
    at_once = after_failure(a_job(), START, BACKOFF, 0.5, retry_in_seconds=0)
    assert at_once == Requeued(available_at=START, retry_count=1)


def test_a_wait_is_no_further_retry() -> None:
    spent = a_job(retry_count=3, max_retries=3)
    assert after_failure(spent, START, BACKOFF, 0.5, retry_in_seconds=90) == FAILED


def test_a_discarded_job_fails_with_retries_left() -> None:
    assert after_failure(a_job(), START, BACKOFF, 0.5, discard=True) == FAILED


@pytest.mark.parametrize("retry_count", [0, 3])
@pytest.mark.parametrize("discard", [True, False])
def test_a_failure_ends_what_was_asked_to_be_cancelled(retry_count: int, discard: bool) -> None:
    job = a_job(cancel_requested=True, retry_count=retry_count)
    assert after_failure(job, START, BACKOFF, 0.5, discard=discard) == CANCELLED


@pytest.mark.parametrize("delay_seconds", [None, 0])
def test_a_released_job_goes_to_its_old_place(delay_seconds: float | None) -> None:
    job = a_job(retry_count=2, available_at=START - 60 * SECOND)
    assert after_release(job, START, delay_seconds) == Requeued(
        available_at=START - 60 * SECOND, retry_count=2
    )


def test_a_released_job_can_be_put_off() -> None:
    job = a_job(available_at=START - 60 * SECOND)
    assert after_release(job, START, 30) == Requeued(available_at=START + 30 * SECOND, retry_count=0)


def test_putting_off_is_never_to_an_earlier_time() -> None:
    # the clock of who claimed was ahead of the one of who releases
    job = a_job(available_at=START + 60 * SECOND)
    assert after_release(job, START, 30) == Requeued(available_at=START + 60 * SECOND, retry_count=0)


def test_a_release_ends_what_was_asked_to_be_cancelled() -> None:
    assert after_release(a_job(cancel_requested=True), START, 30) == CANCELLED


@pytest.mark.parametrize(
    "status, asked, decision",
    [
        (JobStatus.PENDING, False, CANCELLED),
        (JobStatus.RUNNING, False, CancelAsked()),
        (JobStatus.RUNNING, True, Unchanged()),
        (JobStatus.CANCELLED, False, Unchanged()),
        (JobStatus.CANCELLED, True, Unchanged()),
    ],
)
def test_what_a_cancel_request_does(
    status: JobStatus, asked: bool, decision: Ended | CancelAsked | Unchanged
) -> None:
    assert after_cancel(a_job(status=status, cancel_requested=asked)) == decision


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.FAILED])
def test_what_has_ended_is_not_cancelled(status: JobStatus) -> None:
    with pytest.raises(JobNotCancellable):
        after_cancel(a_job(status=status))


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.CANCELLED])
def test_a_retry_gives_all_retries_anew(status: JobStatus) -> None:
    job = a_job(status=status, retry_count=3, available_at=START - 60 * SECOND)
    assert after_retry(job, START) == Requeued(available_at=START, retry_count=0)


@pytest.mark.parametrize("status", [JobStatus.PENDING, JobStatus.RUNNING, JobStatus.COMPLETED])
def test_only_what_failed_or_was_cancelled_is_retried(status: JobStatus) -> None:
    with pytest.raises(JobNotRetryable):
        after_retry(a_job(status=status), START)


@given(st.timedeltas(min_value=-3600 * SECOND, max_value=3600 * SECOND))
def test_a_lease_is_over_after_its_grace(late: timedelta) -> None:
    job = a_job(status=JobStatus.RUNNING, lease_expires_at=START)
    assert lease_ran_out(job, START + late) == (late >= 5 * SECOND)


def test_what_has_no_lease_cannot_lose_it() -> None:
    assert not lease_ran_out(a_job(), START)


def test_a_job_whose_lease_is_over_may_be_taken_over() -> None:
    lost = a_job(status=JobStatus.RUNNING, lease_expires_at=START)
    late = START + 5 * SECOND
    assert may_be_taken_over(lost, late)
    assert not may_be_taken_over(lost, late - timedelta(microseconds=1))
    assert not may_be_taken_over(lost.evolve(cancel_requested=True), late)
    assert not may_be_taken_over(lost.evolve(retry_count=3), late)
    for status in JobStatus:
        running = status is JobStatus.RUNNING
        assert may_be_taken_over(lost.evolve(status=status), late) == running
