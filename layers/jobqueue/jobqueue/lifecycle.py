"""The state machine of a job and the rules of retrying, as pure functions.

::

                 claim                     complete
     pending ───────────▶ running ───────────────────▶ completed
       ▲  │                │ │ │ fail or lease expiry, retries spent
       │  │ cancel         │ │ └─────────────────────▶ failed ──┐
       │  └──▶ cancelled ◀─┘ │   (cancel asked, then fail, release or expiry)
       └─────────────────────┘ fail or lease expiry, retries left; release
       └───────────────────────────────── retry (admin, also from cancelled)

Each function takes the job as it was read and says what to write. Nothing here reads a clock, draws a
random number or touches a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from jobqueue.errors import JobNotCancellable, JobNotRetryable
from jobqueue.job import Job, JobStatus

MAX_RETRY_IN_SECONDS = 604_800
LEASE_EXPIRED = "lease expired"
LEASE_GRACE = timedelta(seconds=5)
"""How long rescue and takeover wait after a lease ran out, for clocks that differ."""

_SHORTEST_BACKOFF = timedelta(milliseconds=1)
_LARGEST_EXPONENT = 64  # 2**64 seconds is beyond every cap, and a float still holds it


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeued:
    """The job waits again.

    Attributes
    ----------
    available_at : datetime
        When it may be claimed.
    retry_count : int
        Its new retry count.
    """

    available_at: datetime
    retry_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The job is finished, as `status`."""

    status: JobStatus


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """The job runs on, and whoever holds it is told that it should not."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What was asked for is so already."""


Decision: TypeAlias = Requeued | Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long a retry waits: full jitter over an exponential.

    Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/

    With a base of 5 s and a cap of 900 s, the longest wait is

    =========== ==== ==== ==== ==== ==== ==== ==== ==== ====
    retry_count 0    1    2    3    4    5    6    7    8
    seconds     5    10   20   40   80   160  320  640  900
    =========== ==== ==== ==== ==== ==== ==== ==== ==== ====

    Attributes
    ----------
    base_seconds, cap_seconds : float
        The wait is up to ``min(cap, base * 2**retry_count)``; a base of 0 retries at once.
    """

    base_seconds: float
    cap_seconds: float

    def delay(self, retry_count: int, jitter: float) -> timedelta:
        """Return the wait before the retry that follows `retry_count` earlier ones.

        Parameters
        ----------
        retry_count : int
            Retries so far; any size.
        jitter : float
            A random number from 0 to 1.
        """
        longest = min(self.cap_seconds, self.base_seconds * 2.0 ** min(retry_count, _LARGEST_EXPONENT))
        if longest <= 0:
            return timedelta(0)
        # never zero, or a failing job would be claimed again by the claim that is under way
        return max(_SHORTEST_BACKOFF, timedelta(seconds=longest * jitter))


def after_failure(
    job: Job,
    now: datetime,
    backoff: Backoff,
    jitter: float,
    *,
    retry_in_seconds: float | None = None,
    discard: bool = False,
) -> Decision:
    """Decide what follows a failed attempt, or a lease that ran out.

    Parameters
    ----------
    job : Job
        The running job.
    now : datetime
        The time of the failure.
    backoff : Backoff
        The wait of its type.
    jitter : float
        A random number from 0 to 1.
    retry_in_seconds : float or None
        The wait that the worker asks for instead.
    discard : bool
        Do not retry.
    """
    if job.cancel_requested:
        return Ended(status=JobStatus.CANCELLED)
    if discard or job.retry_count >= job.max_retries:
        return Ended(status=JobStatus.FAILED)
    if retry_in_seconds is None:
        wait = backoff.delay(job.retry_count, jitter)
    else:
        wait = timedelta(seconds=retry_in_seconds)
    return Requeued(available_at=now + wait, retry_count=job.retry_count + 1)


def after_release(job: Job, now: datetime, delay_seconds: float | None) -> Decision:
    """Decide what follows when a worker gives a job back unfinished: its old place, or a later one."""
    if job.cancel_requested:
        return Ended(status=JobStatus.CANCELLED)
    available_at = job.available_at
    if delay_seconds:
        available_at = max(available_at, now + timedelta(seconds=delay_seconds))
    return Requeued(available_at=available_at, retry_count=job.retry_count)


def after_cancel(job: Job) -> Ended | CancelAsked | Unchanged:
    """Decide what a request to cancel does.

    Raises
    ------
    JobNotCancellable
        If the job completed or failed.
    """
    match job.status:
        case JobStatus.PENDING:
            return Ended(status=JobStatus.CANCELLED)
        case JobStatus.RUNNING:
            return Unchanged() if job.cancel_requested else CancelAsked()
        case JobStatus.CANCELLED:
            return Unchanged()
        case _:
            raise JobNotCancellable


def after_retry(job: Job, now: datetime) -> Requeued:
    """Decide what an admin's retry does: a new life, with all its retries.

    Raises
    ------
    JobNotRetryable
        Unless the job failed or was cancelled.
    """
    if job.status not in {JobStatus.FAILED, JobStatus.CANCELLED}:
        raise JobNotRetryable
    return Requeued(available_at=now, retry_count=0)


def lease_ran_out(job: Job, now: datetime) -> bool:
    """Tell whether the job's lease, with its grace, is over."""
    return job.lease_expires_at is not None and job.lease_expires_at <= now - LEASE_GRACE


def may_be_taken_over(job: Job, now: datetime) -> bool:
    """Tell whether a claim may take the job from a holder whose lease ran out."""
    return (
        job.status is JobStatus.RUNNING
        and lease_ran_out(job, now)
        and job.retry_count < job.max_retries
        and not job.cancel_requested
    )
