"""The lanes of the index: one for each state, priority and shard of a queue."""

from __future__ import annotations

import zlib
from datetime import datetime

from jobqueue.job import Job, JobPriority, JobStatus, format_timestamp
from jobqueue.jobtype import JobTypes

_LAST = "~"
"""Sorts after every character that an id is made of, so ``{time}~`` is the end of that microsecond."""


class Lanes:
    """Names lanes and files jobs under them.

    Parameters
    ----------
    job_types : JobTypes
        Tells over how many shards a queue is spread.
    """

    def __init__(self, job_types: JobTypes) -> None:
        self._job_types = job_types

    def of_pending(self, job: Job) -> str:
        """Return the lane where `job` waits."""
        return f"{_waiting(job.queue, job.priority)}/{self._shard(job.id, job.queue)}"

    def of_running(self, job_id: str, queue: str) -> str:
        """Return the lane where a job of `queue` runs."""
        return f"{queue}/{JobStatus.RUNNING}/{self._shard(job_id, queue)}"

    def of_finished(self, job_id: str, queue: str, status: JobStatus) -> str:
        """Return the lane where a job of `queue` that finished as `status` is kept."""
        return f"{queue}/{status}/{self._shard(job_id, queue)}"

    def pending(self, queue: str, priority: JobPriority) -> tuple[str, ...]:
        """Return the lanes that hold the waiting jobs of a queue at one priority."""
        return self._all(_waiting(queue, priority), queue)

    def running(self, queue: str) -> tuple[str, ...]:
        """Return the lanes that hold the running jobs of a queue."""
        return self._all(f"{queue}/{JobStatus.RUNNING}", queue)

    def finished(self, queue: str, status: JobStatus) -> tuple[str, ...]:
        """Return the lanes that hold the jobs of a queue that finished as `status`."""
        return self._all(f"{queue}/{status}", queue)

    def _all(self, prefix: str, queue: str) -> tuple[str, ...]:
        return tuple(f"{prefix}/{shard}" for shard in range(self._job_types.shards(queue)))

    def _shard(self, job_id: str, queue: str) -> int:
        return shard_of(job_id, self._job_types.shards(queue))


def shard_of(job_id: str, shards: int) -> int:
    """Return the shard of a job: evenly spread, and the same as long as `shards` stays."""
    return zlib.crc32(job_id.encode()) % shards


def order(moment: datetime, job_id: str) -> str:
    """Return where a job stands in its lane: by time, then by id."""
    return f"{format_timestamp(moment)}#{job_id}"


def up_to(moment: datetime) -> str:
    """Return the last place in a lane that is not later than `moment`."""
    return format_timestamp(moment) + _LAST


def _waiting(queue: str, priority: JobPriority) -> str:
    return f"{queue}/{JobStatus.PENDING}/{priority.rank}"
