"""What the holder of a job tells about it: the bodies of complete, fail, heartbeat and release."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from jobqueue.api.fields import ErrorText, LeaseSeconds, Token
from jobqueue.api.models import Fields
from jobqueue.lifecycle import MAX_RETRY_IN_SECONDS
from jobqueue.newjob import MAX_DELAY_SECONDS

MAX_COMPLETED_AT_ONCE = 25


class CompleteJob(Fields):
    """How a job ended well.

    Attributes
    ----------
    lease_token
        The one that the claim told. Without it, any process with the same credential counts as the holder.
    result
        What came out: any JSON of at most 65,536 bytes.
    """

    lease_token: Token | None = None
    result: Any = None


class CompleteOneOfJobs(Fields):
    """One of the jobs that ended well.

    Attributes
    ----------
    id
        The job.
    lease_token
        The one that the claim told.
    result
        What came out: any JSON of at most 65,536 bytes.
    """

    id: str
    lease_token: Token
    result: Any = None


class CompleteJobs(Fields):
    """Jobs that ended well, each on its own.

    Attributes
    ----------
    jobs
        The jobs.
    """

    jobs: Annotated[list[Any], Field(min_length=1, max_length=MAX_COMPLETED_AT_ONCE)]


class FailJob(Fields):
    """How an attempt at a job failed.

    Attributes
    ----------
    lease_token
        The one that the claim told. Without it, any process with the same credential counts as the holder.
    error
        What went wrong. What looks like a secret is taken out, and 1,024 bytes are kept.
    retry_in_seconds
        When to try again, if retries are left. By default, after a random time that grows with each retry.
    discard
        Whether no retry makes sense. Not with `retry_in_seconds`.
    """

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
    """That the worker still works on a job.

    Attributes
    ----------
    lease_token
        The one that the claim told. Without it, any process with the same credential counts as the holder.
    lease_seconds
        For how long to hold the job from now on. By default, as long as its type says. It never gets
        shorter.
    progress
        How far it came: any JSON of at most 1,024 bytes.
    """

    lease_token: Token | None = None
    lease_seconds: LeaseSeconds | None = None
    progress: Any = None


class ReleaseJob(Fields):
    """That the worker gives a job back unfinished, which counts as no failure.

    Attributes
    ----------
    lease_token
        The one that the claim told. Without it, any process with the same credential counts as the holder.
    delay_seconds
        Not to be claimed again for so many seconds.
    """

    lease_token: Token | None = None
    delay_seconds: Annotated[int, Field(ge=0, le=MAX_DELAY_SECONDS)] | None = None
