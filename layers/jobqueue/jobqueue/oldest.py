"""How long the oldest job has been ready: one look at the head of each lane, however many jobs wait."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from datetime import datetime

from jobqueue.job import JobPriority
from jobqueue.lanes import up_to
from jobqueue.table import JobsTable


def oldest_ready(
    jobs: JobsTable, queues: Sequence[str], now: datetime, pool: Executor
) -> dict[tuple[str, JobPriority], datetime]:
    """Return since when the oldest job has been ready, by queue and priority; nothing where none is.

    Parameters
    ----------
    jobs : JobsTable
        Where the jobs are.
    queues : sequence of str
        Where to look.
    now : datetime
        Jobs that are delayed beyond it are not ready.
    pool : Executor
        Looks at several lanes at once.

    Raises
    ------
    Unavailable
        DynamoDB was busy.
    """

    def look(lane: str) -> datetime | None:
        for entry in jobs.index.read(lane, limit=1, until=up_to(now)).entries:
            return entry.summary.available_at
        return None

    lanes = [
        (queue, priority, lane)
        for queue in queues
        for priority in JobPriority
        for lane in jobs.lanes.pending(queue, priority)
    ]
    heads = pool.map(look, [lane for _, _, lane in lanes])
    oldest: dict[tuple[str, JobPriority], datetime] = {}
    for (queue, priority, _), since in zip(lanes, heads, strict=True):
        if since is not None:
            oldest[queue, priority] = min(since, oldest.get((queue, priority), since))
    return oldest
