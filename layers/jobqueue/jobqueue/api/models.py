"""The bodies and queries that the routes take: their shape, and the limits that need no look at data.

Types are strict: ``"3"``, ``3.0`` and ``true`` are not integers. An unknown field is an error, since a
typing error must not pass silently.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from jobqueue.api.fields import (
    IN_QUERY,
    AnyCasePriority,
    DateTime,
    DelaySeconds,
    IdempotencyKey,
    LeaseSeconds,
    RetryableStatus,
    RetryCount,
    Status,
    Text,
    limits,
)
from jobqueue.job import JobPriority, JobStatus, JsonObject
from jobqueue.newjob import NewJob
from jobqueue.queue import JobFilter

MAX_PAGE = 100
MAX_CURSOR = 1024
DEFAULT_PAGE = 20
MAX_ENQUEUED_AT_ONCE = 100
MAX_CLAIMED_AT_ONCE = 25
MAX_QUEUES = 100
MAX_RETRIED_AT_ONCE = 100
DEFAULT_RETRIED_AT_ONCE = 25


class Fields(BaseModel):
    """What every body and query has in common."""

    # built when first used: a function pays for its own models only
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True)


class NoFields(Fields):
    """An empty object, or nothing at all."""


class EnqueueJob(Fields):
    """A job that is to be put in its queue.

    Attributes
    ----------
    type
        What is to be done.
    payload
        What it is about: at most 65,536 bytes as compact JSON, and 32 levels deep.
    queue
        Where the job waits. By default, the queue of its type.
    priority
        How urgent it is: what is more urgent is claimed first, whatever its age.
    max_retries
        How often it is tried again after a failure. By default, as often as its type says.
    delay_seconds
        Not to be claimed for so many seconds.
    run_at
        Not to be claimed before this time, at most a year ahead; the past means now. As of RFC 3339, with an
        offset. Not with `delay_seconds`.
    idempotency_key
        Enqueuing again with the same key and the same members makes no second job. Keys of different callers
        never meet; a key is kept as long as its job.
    """

    type: str
    payload: JsonObject = Field(default_factory=dict)
    queue: str | None = None
    priority: AnyCasePriority = JobPriority.LOW
    max_retries: RetryCount | None = None
    delay_seconds: DelaySeconds | None = None
    run_at: DateTime | None = None
    idempotency_key: IdempotencyKey | None = None

    # ranges, sizes and names are the business of `jobqueue.newjob`
    def new_job(self) -> NewJob:
        """Return what is asked for."""
        return NewJob(**dict(self))


class EnqueueJobs(Fields):
    """Jobs that are to be put in their queues, each on its own.

    Attributes
    ----------
    jobs
        The jobs.
    """

    jobs: Annotated[list[Any], Field(min_length=1, max_length=MAX_ENQUEUED_AT_ONCE)]


class ListJobs(Fields):
    """Which jobs to list.

    Attributes
    ----------
    status
        Only jobs in this status.
    queue
        Only jobs in this queue.
    type
        Only jobs of this type. Few of them among many others make short pages.
    limit
        How many jobs a page has at most.
    cursor
        Where to go on: the `next_cursor` of the page before, of the same caller and the same filter.
    """

    status: Status | None = None
    queue: Text | None = None
    type: Text | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), IN_QUERY] = DEFAULT_PAGE
    cursor: Annotated[Text, limits(maxLength=MAX_CURSOR)] | None = None

    def filter(self) -> JobFilter:
        """Return which jobs are asked for."""
        return JobFilter(status=self.status, queue=self.queue, type=self.type)


class ClaimJob(Fields):
    """Where to look for a job. Who claims is told by the credential alone.

    Attributes
    ----------
    queues
        Where to look; by default, in all queues that are granted.
    lease_seconds
        For how long to hold the job without a heartbeat. By default, as long as its type says.
    """

    queues: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUEUES)] | None = None
    lease_seconds: LeaseSeconds | None = None


class ClaimJobs(ClaimJob):
    """Where to look for jobs. Who claims is told by the credential alone.

    Attributes
    ----------
    max_jobs
        How many to claim at most.
    """

    max_jobs: Annotated[int, Field(ge=1, le=MAX_CLAIMED_AT_ONCE)]


class RetryJobs(Fields):
    """Which jobs of a queue to retry, the oldest first.

    Attributes
    ----------
    status
        Those that failed, or those that were cancelled.
    type
        Only jobs of this type.
    limit
        How many to retry at most in this step.
    finished_before
        Only jobs that finished earlier; by default, before now. The same time in every step leaves out those
        that failed again meanwhile. As of RFC 3339, with an offset.
    """

    status: RetryableStatus
    type: Text | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_RETRIED_AT_ONCE)] = DEFAULT_RETRIED_AT_ONCE
    finished_before: DateTime | None = None

    @field_validator("status")
    @classmethod
    def _retryable(cls, status: JobStatus) -> JobStatus:
        if status not in {JobStatus.FAILED, JobStatus.CANCELLED}:
            raise PydanticCustomError("unknown_value", "must be failed or cancelled")
        return status

    @field_validator("finished_before")
    @classmethod
    def _aware(cls, moment: datetime | None) -> datetime | None:
        if moment is not None and moment.tzinfo is None:
            raise PydanticCustomError("no_time_zone", "needs an offset from UTC")
        return moment
