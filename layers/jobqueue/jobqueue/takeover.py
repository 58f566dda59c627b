"""How a claim that finds no waiting job takes over those of holders that went silent.

The index shows the lease that a claim wrote, so what it says is a reason to look, and the item decides. What
cannot be taken — a lease that was extended, a job that shall stop or has no retries left — must not keep
younger ones waiting until the next rescue.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

from jobqueue import telemetry
from jobqueue.errors import CorruptItem
from jobqueue.item import LaneEntry
from jobqueue.job import Clock, Job, JobFailure
from jobqueue.jobtype import JobTypes
from jobqueue.lanes import up_to
from jobqueue.lifecycle import LEASE_EXPIRED, LEASE_GRACE, may_be_taken_over
from jobqueue.metrics import Metric, count, labels
from jobqueue.spread import PAGE
from jobqueue.table import JobsTable
from jobqueue.taking import Holds, Wish, taken

LARGER_PAGE = 50
MOST_PAGES = 5
"""Of one lane, for one claim. Jobs without retries, which alone fill pages, are failed by the next rescue."""

MOST_IN_VAIN = 10
"""Items that one claim reads and cannot take, before it leaves the rest to rescue and to the next claim."""


class Takeover:
    """Takes over jobs whose lease ran out.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        For the labels of metrics.
    clock : Clock
        The time.
    holds : Holds
        Makes the new leases.
    """

    def __init__(self, table: JobsTable, job_types: JobTypes, clock: Clock, holds: Holds) -> None:
        self._table = table
        self._job_types = job_types
        self._clock = clock
        self._holds = holds

    def take(self, wish: Wish, max_jobs: int) -> Iterator[list[Job]]:
        """Yield up to `max_jobs` jobs, one by one: those first whose lease ran out first.

        Raises
        ------
        Unavailable
            DynamoDB failed. What was yielded before is held.
        """
        in_vain = 0
        for entry in self._expired(wish):
            job = self._take_one(entry, wish)
            if job is None:
                in_vain += 1
            else:
                max_jobs -= 1
                yield [job]
            if in_vain == MOST_IN_VAIN or max_jobs == 0:
                return

    def _expired(self, wish: Wish) -> Iterator[LaneEntry]:
        lanes = [lane for queue in wish.queues for lane in self._table.lanes.running(queue)]
        return merge(*map(self._entries, lanes), key=lambda entry: entry.lane_order)

    def _entries(self, lane: str) -> Iterator[LaneEntry]:
        """Yield entries whose lease seems to have run out and which have retries left; read as need be."""
        until = up_to(self._clock() - LEASE_GRACE)
        limits = (PAGE, *[LARGER_PAGE] * (MOST_PAGES - 1))
        for page in self._table.index.pages(lane, limits, until=until):
            yield from (
                entry for entry in page.entries if entry.summary.retry_count < entry.summary.max_retries
            )

    def _take_one(self, entry: LaneEntry, wish: Wish) -> Job | None:
        now = self._clock()
        try:
            stored = self._table.get(entry.summary.id, now)
            if stored is None:
                return None
            if not may_be_taken_over(stored.job, now):
                self._table.refile(stored)
                return None
            hold = self._holds.make(stored.job.type, wish)
            failure = JobFailure(error=LEASE_EXPIRED, failed_at=now, worker_id=stored.job.worker_id)
            job = taken(self._table.update(self._table.updates.take_over(stored, hold, failure)), hold)
        except CorruptItem:
            return None  # rescue reports it; a bad entry must not stay in the way of the next
        if job is not None:
            telemetry.decision("take_over", "taken-over", job)
            count(Metric.RESCUED, **labels(self._job_types, job.queue, job.type))
        return job
