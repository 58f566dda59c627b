"""How claimers find a job without fighting over it.

A claimer looks at a page of the lane and takes its head. A lost race tells that others are there: it looks
again, since what it saw is old, and takes one at random within a window over the page instead. The window
grows with every lost race, shrinks with every win, and is forgotten after a minute without a lost race.
Alone, it is one wide, and the order is exactly first in, first out.

The price decides: a lost write costs as much as reading fifty entries of a lane.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from jobqueue.errors import CorruptItem, Unavailable
from jobqueue.item import LaneEntry
from jobqueue.job import Clock, Job, JobPriority, JobSummary
from jobqueue.jobtype import JobTypes
from jobqueue.lanes import up_to
from jobqueue.metrics import Measures, Metric, labels
from jobqueue.spread import Look, Settled, Window, waves
from jobqueue.table import JobsTable
from jobqueue.takeover import Takeover
from jobqueue.taking import Holds, Wish, taken

SHARDS_AT_FIRST = 2
"""How many shards of a queue a claim looks at, all their priorities, before it looks at the others.

So priority is strict within two shards. Over many it is not: a claim may take a low job while an urgent one
waits in a shard that it did not look at. With s shards the next claims find that one after about s/2, which
is soon where shards are needed at all; looking at every lane of every shard first would cost each claim 3s
queries that find nothing.
"""


@dataclass(frozen=True, slots=True)
class _Tried:
    """What became of entries that were tried at once."""

    jobs: list[Job]
    lost: list[LaneEntry]
    failures: list[Unavailable]


class Claimer:
    """Finds and takes jobs.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        Gives the leases.
    clock, new_token, rng
        Time, lease tokens and randomness.
    """

    def __init__(
        self,
        table: JobsTable,
        job_types: JobTypes,
        *,
        clock: Clock,
        new_token: Callable[[], str],
        rng: random.Random,
    ) -> None:
        self._table = table
        self._job_types = job_types
        self._clock = clock
        self._rng = rng
        self._holds = Holds(job_types, clock, new_token)
        self._takeover = Takeover(table, job_types, clock, self._holds)
        self._window = Window(rng, clock)
        self._settled = Settled()

    def claim(self, wish: Wish, max_jobs: int) -> list[Job]:
        """Take up to `max_jobs` jobs: the highest priority first, the oldest first.

        When no lane has one, jobs whose lease ran out are taken over (see `Takeover`). Fewer than `max_jobs`
        means that no more candidates were left, or that DynamoDB failed after the first was taken.

        Raises
        ------
        Unavailable
            DynamoDB failed before a job was taken.
        """
        claimed: list[Job] = []
        try:
            for jobs in self._take(wish, max_jobs):
                claimed += jobs
        except Unavailable:
            # what is held already must reach its holder, or it would cost a lease and a retry
            if not claimed:
                raise
        return claimed

    def _take(self, wish: Wish, max_jobs: int) -> Iterator[list[Job]]:
        """Yield jobs as they are taken."""
        left = max_jobs
        begin = {queue: self._rng.random() for queue in wish.queues}
        for shards in (slice(SHARDS_AT_FIRST), slice(SHARDS_AT_FIRST, None)):
            for priority in JobPriority.highest_first():
                looks = [self._look(queue, priority, at, shards) for queue, at in begin.items()]
                for jobs in self._take_from(looks, left, wish):
                    left -= len(jobs)
                    yield jobs
                if left == 0:
                    return
        if left == max_jobs:
            yield from self._takeover.take(wish, max_jobs)

    def _look(self, queue: str, priority: JobPriority, begin: float, shards: slice) -> Look:
        """Look at some of the shards of a queue, in a circle that begins somewhere."""
        lanes = self._table.lanes.pending(queue, priority)
        first = int(begin * len(lanes))
        circle = (*lanes[first:], *lanes[:first])
        return Look(self._table, circle[shards], up_to(self._clock()), self._settled)

    def _take_from(self, looks: Sequence[Look], wanted: int, wish: Wish) -> Iterator[list[Job]]:
        """Yield jobs of what the looks see together, the oldest first, until there is nothing left to try."""
        while wanted:
            entries = self._window.entries(wanted)
            candidates = [entry for look in looks for entry in look.candidates(entries)]
            if not candidates:
                return
            candidates.sort(key=lambda entry: entry.lane_order)
            for wave in waves(self._window.choose(candidates, wanted)):
                tried = self._try(wave, wish)
                wanted -= len(tried.jobs)
                yield tried.jobs
                if tried.failures:
                    raise tried.failures[0]
                if tried.lost:
                    self._window.lost()
                    for look in looks:
                        look.lost(tried.lost)
                    break
            else:
                self._window.won()

    def _try(self, entries: Sequence[LaneEntry], wish: Wish) -> _Tried:
        """Claim the entries side by side, and remember what is not to be tried again."""
        if len(entries) == 1:
            outcomes = [self._claim_one(entries[0], wish)]
        else:
            with ThreadPoolExecutor(max_workers=len(entries)) as pool:
                outcomes = list(pool.map(lambda entry: self._claim_one(entry, wish), entries))
        tried = _Tried([], [], [])
        for entry, outcome in zip(entries, outcomes, strict=True):
            if isinstance(outcome, Unavailable):
                tried.failures.append(outcome)
                continue
            self._settled.add(entry)
            if outcome is None:
                tried.lost.append(entry)
            else:
                tried.jobs.append(outcome)
        self._tell_lost([entry.summary for entry in tried.lost])
        return tried

    def _claim_one(self, entry: LaneEntry, wish: Wish) -> Job | Unavailable | None:
        hold = self._holds.make(entry.summary.type, wish)
        try:
            return taken(self._table.update(self._table.updates.claim(entry, hold)), hold)
        except CorruptItem:
            return None  # rescue reports it; the others can still be claimed
        except Unavailable as failure:
            return failure  # what is claimed beside it must not be lost

    def _tell_lost(self, jobs: Sequence[JobSummary]) -> None:
        measures = Measures()
        for job in jobs:
            measures.add(Metric.LOST_RACES, 1, **labels(self._job_types, job.queue, job.type))
        measures.write()
