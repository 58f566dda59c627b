"""The bodies and queries that the routes take: their shape, and the limits that need no look at data.

Types are strict: ``"3"``, ``3.0`` and ``true`` are not integers. An unknown field is an error, since a
typing error must not pass silently.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from jobqueue.api.fields import (
    AnyCasePriority,
    DateTime,
    ErrorText,
    LeaseSeconds,
    QueryInteger,
    Status,
    Text,
    Token,
)
from jobqueue.job import JobPriority, JobStatus, JsonObject
from jobqueue.newjob import MAX_DELAY_SECONDS, NewJob
from jobqueue.queue import JobFilter

MAX_RETRY_IN_SECONDS = 604_800
MAX_PAGE = 100
DEFAULT_PAGE = 20
MAX_ENQUEUED_AT_ONCE = 100
MAX_CLAIMED_AT_ONCE = 25
MAX_COMPLETED_AT_ONCE = 25
MAX_QUEUES = 100
MAX_RETRIED_AT_ONCE = 100
DEFAULT_RETRIED_AT_ONCE = 25


class Fields(BaseModel):
    """What every body and query has in common."""

    # built when first used: a function pays for its own models only
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True)


class NoFields(Fields):
    """The body of a route that takes none: empty, or nothing at all."""


class EnqueueJob(Fields):
    """The body of POST /jobs. Ranges, sizes and names are the business of `jobqueue.newjob`."""

    type: str
    payload: JsonObject = Field(default_factory=dict)
    queue: str | None = None
    priority: AnyCasePriority = JobPriority.LOW
    max_retries: int | None = None
    delay_seconds: int | None = None
    run_at: DateTime | None = None
    idempotency_key: str | None = None

    def new_job(self) -> NewJob:
        """Return what is asked for."""
        return NewJob(**dict(self))


class EnqueueJobs(Fields):
    """The body of POST /jobs/batch. Each job is read on its own."""

    jobs: Annotated[list[Any], Field(min_length=1, max_length=MAX_ENQUEUED_AT_ONCE)]


class ListJobs(Fields):
    """The query of GET /jobs."""

    status: Status | None = None
    queue: Text | None = None
    type: Text | None = None
    limit: Annotated[QueryInteger, Field(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE
    cursor: Text | None = None

    def filter(self) -> JobFilter:
        """Return which jobs are asked for."""
        return JobFilter(status=self.status, queue=self.queue, type=self.type)


class ClaimJob(Fields):
    """The body of POST /jobs/claim. Who claims is told by the credential alone."""

    queues: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUEUES)] | None = None
    lease_seconds: LeaseSeconds | None = None


class ClaimJobs(ClaimJob):
    """The body of POST /jobs/batch/claim."""

    max_jobs: Annotated[int, Field(ge=1, le=MAX_CLAIMED_AT_ONCE)]


class CompleteJob(Fields):
    """The body of POST /jobs/{id}/complete."""

    lease_token: Token | None = None
    result: Any = None


class CompleteOneOfJobs(Fields):
    """One of the jobs of POST /jobs/batch/complete."""

    id: str
    lease_token: Token
    result: Any = None


class CompleteJobs(Fields):
    """The body of POST /jobs/batch/complete. Each job is read on its own."""

    jobs: Annotated[list[Any], Field(min_length=1, max_length=MAX_COMPLETED_AT_ONCE)]


class FailJob(Fields):
    """The body of POST /jobs/{id}/fail."""

    lease_token: Token | None = None
    error: ErrorText | None = None
    retry_in_seconds: Annotated[int, Field(ge=0, le=MAX_RETRY_IN_SECONDS)] | None = None
    discard: bool = False

    @field_validator("discard")
    @classmethod
    def _not_both(cls, discard: bool, info: ValidationInfo) -> bool:
        if discard and info.data.get("retry_in_seconds") is not None:
            raise PydanticCustomError("conflict", "excludes retry_in_seconds")
        return discard


class HeartbeatJob(Fields):
    """The body of POST /jobs/{id}/heartbeat."""

    lease_token: Token | None = None
    lease_seconds: LeaseSeconds | None = None
    progress: Any = None


class ReleaseJob(Fields):
    """The body of POST /jobs/{id}/release."""

    lease_token: Token | None = None
    delay_seconds: Annotated[int, Field(ge=0, le=MAX_DELAY_SECONDS)] | None = None


class RetryJobs(Fields):
    """The body of POST /queues/{queue}/retry."""

    status: Status
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
