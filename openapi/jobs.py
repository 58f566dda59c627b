"""What is answered about jobs, as models: for the document alone, since the functions answer plain dicts.

Fields without a default are always there. Those with one are there only where the caller may see them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from jobqueue.api.models import MAX_PAGE
from jobqueue.job import JobPriority, JobStatus, JsonObject

Timestamp = TypeAliasType(
    "Timestamp",
    Annotated[
        str,
        Field(
            description="A time in UTC with microseconds, always as long, so that text order is time order.",
            pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
            json_schema_extra={"format": "date-time"},
        ),
    ],
)
JobId = TypeAliasType(
    "JobId",
    Annotated[
        str,
        Field(description="What a job is called.", pattern=r"^job_[0-7][0-9A-HJKMNP-TV-Z]{25}$"),
    ],
)
Name = Annotated[str, Field(min_length=1, max_length=64)]
Count = Annotated[int, Field(ge=0)]
PrincipalId = Annotated[str, Field(min_length=1)]
LeaseToken = Annotated[str, Field(min_length=1, max_length=255)]

SOMETIMES: Any = Field(default_factory=dict)
"""There, or not: the default itself is never answered."""


class Answer(BaseModel):
    """What every answer has in common: nothing in it goes without a description."""

    model_config = ConfigDict(extra="forbid")


class JobSummary(Answer):
    """What everybody who is granted the queue may see of a job, as lists show it.

    Attributes
    ----------
    id
        What the job is called in paths.
    type
        What is to be done: a declared type. One that a later deployment removed is told as it was.
    queue
        Where the job waits, or waited.
    priority
        How urgent it is.
    status
        Where it is in its life. `failed` is the dead-letter state.
    retry_count
        How many retries it has had. It stays when the retries are spent.
    max_retries
        How many retries it may have: N retries are N + 1 attempts.
    available_at
        It cannot be claimed earlier.
    created_by
        Who enqueued it: the principal of the credential.
    created_at
        When it was enqueued.
    worker_id
        Who holds it, or held it last: the principal of the credential.
    claimed_at
        When it was claimed, the last time.
    finished_at
        When it was completed, failed or cancelled.
    """

    id: JobId
    type: Name
    queue: Name
    priority: JobPriority
    status: JobStatus
    retry_count: Count
    max_retries: Count
    available_at: Timestamp
    created_by: PrincipalId
    created_at: Timestamp
    worker_id: PrincipalId | None
    claimed_at: Timestamp | None
    finished_at: Timestamp | None


class BriefJob(JobSummary):
    """A job as the results of batches tell it: without anything that only some callers may see.

    Attributes
    ----------
    updated_at
        When its state last changed.
    lease_expires_at
        Until when its holder holds it, unless a heartbeat makes it longer.
    cancel_requested
        Whether its holder is asked to stop.
    progress
        What its holder last told of it: any JSON.
    """

    updated_at: Timestamp
    lease_expires_at: Timestamp | None
    cancel_requested: bool
    progress: Any


class JobFailure(Answer):
    """One failed attempt at a job.

    Attributes
    ----------
    error
        What went wrong, without what looks like a secret; at most 1,024 bytes of UTF-8.
    failed_at
        When that was recorded.
    worker_id
        Who held the job.
    """

    error: str
    failed_at: Timestamp
    worker_id: PrincipalId | None


class Job(BriefJob):
    """A job, as the caller may see it.

    Attributes
    ----------
    payload
        What the job is about. For its producer, the worker that holds it, and admins.
    result
        What the worker told when it completed the job: any JSON. For its producer, that worker, and admins.
    idempotency_key
        The key that it was enqueued with. For its producer and admins.
    error
        The last failure, without what looks like a secret. For admins.
    errors
        The last five failures, the oldest first; a retry by an admin keeps them. For admins.
    """

    payload: JsonObject = SOMETIMES
    result: Any = SOMETIMES
    idempotency_key: str | None = SOMETIMES
    error: str | None = SOMETIMES
    errors: Annotated[list[JobFailure], Field(max_length=5)] = SOMETIMES


class ClaimedJob(Job):
    """A job that the caller holds now.

    Attributes
    ----------
    lease_token
        What the holder shows to heartbeat, complete, fail or release the job. It is told nowhere else.
    """

    payload: JsonObject
    lease_token: LeaseToken


class JobPage(Answer):
    """Some jobs of a list.

    Attributes
    ----------
    jobs
        In their order: pending ones as they would be claimed, running ones as their leases end, finished ones
        with the newest first. There may be fewer than asked for, or none, before the end.
    next_cursor
        Where the next page starts; null at the end of the list. It works for the same caller with the same
        filter.
    """

    jobs: Annotated[list[JobSummary], Field(max_length=MAX_PAGE)]
    next_cursor: Annotated[str, Field(max_length=1024)] | None


class Lease(Answer):
    """How long the caller holds a job.

    Attributes
    ----------
    lease_expires_at
        Until when; a heartbeat never makes it shorter.
    cancel_requested
        Whether the holder is asked to stop.
    """

    lease_expires_at: Timestamp
    cancel_requested: bool
