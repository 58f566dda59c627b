"""What is answered about queues, as models: for the document alone (see `openapi.jobs`)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from jobqueue.job import JobPriority
from openapi.jobs import Answer, Count, Name, Timestamp


class QueueCounts(Answer):
    """How many jobs are in a queue. Counting costs the same at any depth, and may lag for a moment.

    Attributes
    ----------
    pending
        Those that wait, by priority, delayed ones included.
    running
        Those that are held.
    completed, failed, cancelled
        Those that ended so, until they are deleted.
    """

    pending: Annotated[
        dict[str, Any],
        WithJsonSchema(
            {
                "type": "object",
                "additionalProperties": False,
                "required": [priority.value for priority in JobPriority],
                "properties": {priority.value: {"type": "integer", "minimum": 0} for priority in JobPriority},
            }
        ),
    ]
    running: Count
    completed: Count
    failed: Count
    cancelled: Count


class QueueState(Answer):
    """One queue.

    Attributes
    ----------
    name
        What it is called.
    paused
        Whether it hands out no jobs. It takes them in any case.
    counts
        How many jobs are in it.
    oldest_pending_at
        Since when the oldest job has been ready that nobody has claimed; null if none is ready.
    oldest_age_seconds
        How long that is.
    """

    name: Name
    paused: bool
    counts: QueueCounts
    oldest_pending_at: Timestamp | None
    oldest_age_seconds: Count | None


class QueueList(Answer):
    """The queues that the caller is granted.

    Attributes
    ----------
    queues
        By name.
    """

    queues: list[QueueState]


class PauseState(Answer):
    """Whether a queue hands out jobs.

    Attributes
    ----------
    name
        The queue.
    paused
        Whether it hands out none.
    """

    name: Name
    paused: bool


class RetriedJobs(Answer):
    """How far one step of a retry in bulk came.

    Attributes
    ----------
    retried
        How many jobs are pending again.
    skipped
        How many had moved meanwhile.
    more
        Whether there may be more; the call is then to be repeated, with the same `finished_before`.
    """

    retried: Count
    skipped: Count
    more: bool
