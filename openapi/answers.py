"""What each route answers when all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from jobqueue import errors
from jobqueue.api.held import MAX_COMPLETED_AT_ONCE
from jobqueue.api.models import MAX_CLAIMED_AT_ONCE, MAX_ENQUEUED_AT_ONCE
from openapi.jobs import Answer, BriefJob, ClaimedJob, Job, JobPage, Lease
from openapi.problems import one_of
from openapi.queues import PauseState, QueueList, RetriedJobs

LOCATION = {
    "Location": {
        "description": "The path of the job.",
        "schema": {"type": "string", "pattern": "^/jobs/job_[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
    }
}
RETRY_AFTER = {
    "Retry-After": {
        "description": "After how many seconds asking again makes sense.",
        "schema": {"type": "integer", "minimum": 1},
    }
}


@dataclass(frozen=True, slots=True)
class Success:
    """One way in which a route answers that all is well.

    Attributes
    ----------
    status : HTTPStatus
        The status.
    description : str
        What it means.
    body : type or None
        The model of the answer, or None if there is no body.
    headers : mapping
        Header objects of OpenAPI, of headers that are always there.
    """

    status: HTTPStatus
    description: str
    body: type[Answer] | None
    headers: Mapping[str, Any] = field(default_factory=dict)


class ClaimedJobs(Answer):
    """The jobs that were claimed.

    Attributes
    ----------
    jobs
        The most urgent first; none if there are none.
    """

    jobs: Annotated[list[ClaimedJob], Field(max_length=MAX_CLAIMED_AT_ONCE)]


class EnqueuedJob(Answer):
    """One job of a batch that is in its queue.

    Attributes
    ----------
    status
        201, or 200 if its idempotency key was known.
    job
        The job.
    """

    status: Literal[201, 200]
    job: BriefJob


class CompletedJob(Answer):
    """One job of a batch that is completed.

    Attributes
    ----------
    status
        200.
    job
        The job.
    """

    status: Literal[200]
    job: BriefJob


class RefusedEnqueue(Answer):
    """One job of a batch that could not be enqueued. The others are not affected.

    Attributes
    ----------
    status
        What POST /jobs would have answered.
    problem
        What was wrong with it.
    """

    status: Literal[403, 422, 500, 503]
    problem: Annotated[
        dict[str, Any],
        WithJsonSchema(
            one_of(
                errors.InvalidRequest,
                errors.IdempotencyKeyReused,
                errors.PriorityNotAllowed,
                errors.QueueNotAllowed,
                errors.Unavailable,
                errors.CorruptItem,
            )
        ),
    ]


class RefusedCompletion(Answer):
    """One job of a batch that could not be completed. The others are not affected.

    Attributes
    ----------
    status
        What POST /jobs/{id}/complete would have answered.
    problem
        What was wrong with it.
    """

    status: Literal[409, 422, 500, 503]
    problem: Annotated[
        dict[str, Any],
        WithJsonSchema(
            one_of(
                errors.InvalidRequest,
                errors.JobNotHeld,
                errors.ReplayMismatch,
                errors.Unavailable,
                errors.CorruptItem,
            )
        ),
    ]


class EnqueueResults(Answer):
    """What became of each job of a batch.

    Attributes
    ----------
    results
        One for each job, in their order.
    """

    results: Annotated[
        list[EnqueuedJob | RefusedEnqueue], Field(min_length=1, max_length=MAX_ENQUEUED_AT_ONCE)
    ]


class CompletionResults(Answer):
    """What became of each job of a batch.

    Attributes
    ----------
    results
        One for each job, in their order.
    """

    results: Annotated[
        list[CompletedJob | RefusedCompletion], Field(min_length=1, max_length=MAX_COMPLETED_AT_ONCE)
    ]


def _ok(description: str, body: type[Answer] | None = Job, **headers: Any) -> Success:
    return Success(HTTPStatus.OK, description, body, headers)


ANSWERS: Mapping[str, tuple[Success, ...]] = {
    "enqueue_job": (
        Success(HTTPStatus.CREATED, "The job is in its queue.", Job, LOCATION),
        _ok("The idempotency key is known: the job that it made, as it is now.", Job, **LOCATION),
    ),
    "list_jobs": (_ok("A page of jobs.", JobPage),),
    "get_job": (_ok("The job."),),
    "claim_job": (
        _ok("The job, which the caller holds now.", ClaimedJob),
        Success(HTTPStatus.NO_CONTENT, "There is no job to claim.", None, RETRY_AFTER),
    ),
    "complete_job": (_ok("The completed job; the same again if the call is repeated."),),
    "fail_job": (_ok("The job: pending for its retry, failed, or cancelled where that was asked."),),
    "heartbeat_job": (_ok("The lease.", Lease),),
    "release_job": (_ok("The job: pending again, or cancelled where that was asked."),),
    "cancel_job": (_ok("The job: cancelled, or still running with `cancel_requested`."),),
    "retry_job": (_ok("The job: pending, with all its retries."),),
    "enqueue_jobs": (_ok("What became of each job.", EnqueueResults),),
    "claim_jobs": (_ok("The jobs, which the caller holds now; none if there are none.", ClaimedJobs),),
    "complete_jobs": (_ok("What became of each job.", CompletionResults),),
    "list_queues": (_ok("The queues.", QueueList),),
    "pause_queue": (_ok("The queue, paused; within ten seconds everywhere.", PauseState),),
    "resume_queue": (_ok("The queue, not paused; within ten seconds everywhere.", PauseState),),
    "retry_jobs": (_ok("How far this step came.", RetriedJobs),),
}
"""By function."""
