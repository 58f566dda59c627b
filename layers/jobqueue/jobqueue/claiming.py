"""How claimers find a job without fighting over it.

A claimer looks at a page of the lane and takes its head. Where that is lost to another claimer, it spreads
out: it picks at random within a window over the page, which grows with every lost race and shrinks with
every job won. Alone, the window stays at one and the order is exactly first in, first out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

from jobqueue.errors import CorruptItem, Unavailable
from jobqueue.item import LaneEntry, StoredJob
from jobqueue.job import Clock, Job, JobFailure, JobPriority
from jobqueue.jobtype import JobTypes
from jobqueue.lanes import up_to
from jobqueue.lifecycle import LEASE_EXPIRED, LEASE_GRACE, may_be_taken_over
from jobqueue.table import Hold, JobsTable, Refused, is_misfiled

PAGE = 10
LARGEST_PAGE = 100
WIDEST_WINDOW = 64.0


class Window:
    """Over how many candidates a claimer spreads itself. Kept while the process is warm.

    Parameters
    ----------
    rng : random.Random
        Where the picks come from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._width = 1.0

    @property
    def width(self) -> int:
        """The number of candidates to pick among."""
        return int(self._width)

    def sample(self, candidates: int, wanted: int) -> list[int]:
        """Return the indices of `wanted` candidates to try, of so many, in their order."""
        span = min(candidates, wanted * self.width)
        return sorted(self._rng.sample(range(span), min(wanted, span)))

    def won(self) -> None:
        """Draw closer to the head of the lane."""
        self._width = max(1.0, self._width * 0.9)

    def lost(self) -> None:
        """Spread out."""
        self._width = min(WIDEST_WINDOW, self._width * 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a claimer asks for.

    Attributes
    ----------
    worker_id : str
        Who will hold the jobs.
    queues : sequence of str
        Where to look.
    lease_seconds : int or None
        How long to hold a job; None takes its type's.
    """

    worker_id: str
    queues: Sequence[str]
    lease_seconds: int | None


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
        self._new_token = new_token
        self._rng = rng
        self._window = Window(rng)

    def claim(self, wish: Wish, max_jobs: int) -> list[Job]:
        """Take up to `max_jobs` jobs: the highest priority first, the oldest first.

        When no lane has one, the oldest job whose lease ran out is taken over, if there is one. Fewer
        than `max_jobs` means that no more candidates were left, or that DynamoDB failed after the first
        was taken.

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
        for priority in JobPriority.highest_first():
            for jobs in self._claim_at(priority, wish, left):
                left -= len(jobs)
                yield jobs
            if left == 0:
                return
        if left == max_jobs:
            yield self._take_over(wish)

    def _claim_at(self, priority: JobPriority, wish: Wish, wanted: int) -> Iterator[list[Job]]:
        for page in self._pages(priority, wish.queues, wanted):
            candidates = list(page)
            while candidates and wanted:
                for jobs in self._try(self._draw(candidates, wanted), wish):
                    wanted -= len(jobs)
                    yield jobs
            if wanted == 0:
                return

    def _pages(self, priority: JobPriority, queues: Sequence[str], wanted: int) -> Iterator[list[LaneEntry]]:
        """Yield the candidates at one priority, those of all queues together, page by page."""
        readers = [self._read(queue, priority, wanted) for queue in queues]
        while readers:
            pages = [(reader, page) for reader in readers if (page := next(reader, None)) is not None]
            readers = [reader for reader, _ in pages]
            yield sorted((entry for _, page in pages for entry in page), key=lambda entry: entry.lane_order)

    def _read(self, queue: str, priority: JobPriority, wanted: int) -> Iterator[tuple[LaneEntry, ...]]:
        """Yield the pages of a queue that hold jobs, shard after shard from a random one."""
        until = up_to(self._clock())
        shards = self._table.lanes.pending(queue, priority)
        first = self._rng.randrange(len(shards))
        for lane in (*shards[first:], *shards[:first]):
            start: tuple[str, str] | None = None
            while True:
                page = self._table.read_lane(lane, limit=self._page_size(wanted), start=start, until=until)
                if page.entries:
                    yield page.entries
                if page.next is None:
                    break
                start = page.next

    def _page_size(self, wanted: int) -> int:
        return min(LARGEST_PAGE, max(PAGE, wanted * self._window.width))

    def _draw(self, candidates: list[LaneEntry], wanted: int) -> list[LaneEntry]:
        """Take up to `wanted` candidates out of the list: the head, or some within the window."""
        chosen = self._window.sample(len(candidates), wanted)
        return [candidates.pop(index) for index in reversed(chosen)][::-1]

    def _try(self, entries: Sequence[LaneEntry], wish: Wish) -> Iterator[list[Job]]:
        """Yield those jobs of the entries that were taken; then raise what went wrong with the others."""
        if len(entries) == 1:
            outcomes = [self._claim_one(entries[0], wish)]
        else:
            with ThreadPoolExecutor(max_workers=len(entries)) as pool:
                outcomes = list(pool.map(lambda entry: self._claim_one(entry, wish), entries))
        jobs = [outcome for outcome in outcomes if isinstance(outcome, Job)]
        failures = [outcome for outcome in outcomes if isinstance(outcome, Unavailable)]
        self._learn(won=len(jobs), lost=len(outcomes) - len(jobs) - len(failures))
        yield jobs
        if failures:
            raise failures[0]

    def _learn(self, *, won: int, lost: int) -> None:
        if lost:
            self._window.lost()
        elif won:
            self._window.won()

    def _claim_one(self, entry: LaneEntry, wish: Wish) -> Job | Unavailable | None:
        hold = self._hold(entry.summary.type, wish)
        try:
            return _taken(self._table.claim(entry, hold), hold)
        except CorruptItem:
            return None  # rescue reports it; the others can still be claimed
        except Unavailable as failure:
            return failure  # what is claimed beside it must not be lost

    def _take_over(self, wish: Wish) -> list[Job]:
        """Take the oldest job whose lease ran out, if its item says so too."""
        over = up_to(self._clock() - LEASE_GRACE)
        found = [
            entry
            for queue in wish.queues
            for lane in self._table.lanes.running(queue)
            for entry in self._table.read_lane(lane, limit=PAGE, until=over).entries
            if entry.summary.retry_count < entry.summary.max_retries
        ]
        for entry in sorted(found, key=lambda entry: entry.lane_order):
            try:
                return self._take_over_one(entry.summary.id, wish)
            except CorruptItem:
                continue  # rescue reports it; a bad entry must not stay in the way of the next
        return []

    def _take_over_one(self, job_id: str, wish: Wish) -> list[Job]:
        now = self._clock()
        stored = self._table.get(job_id, now)
        if stored is None:
            return []
        if may_be_taken_over(stored.job, now):
            hold = self._hold(stored.job.type, wish)
            failure = JobFailure(error=LEASE_EXPIRED, failed_at=now, worker_id=stored.job.worker_id)
            job = _taken(self._table.take_over(stored, hold, failure), hold)
            return [] if job is None else [job]
        if is_misfiled(stored):
            self._table.refile(stored)
        return []

    def _hold(self, type_name: str, wish: Wish) -> Hold:
        now = self._clock()
        seconds = wish.lease_seconds or self._job_types.policy(type_name).lease_seconds
        return Hold(
            worker_id=wish.worker_id,
            token=self._new_token(),
            now=now,
            expires_at=now + timedelta(seconds=seconds),
        )


def _taken(outcome: StoredJob | Refused, hold: Hold) -> Job | None:
    """Return the job if it is held now: also when the write was refused by its own earlier success."""
    stored = outcome.old if isinstance(outcome, Refused) else outcome
    if stored is None or stored.job.lease_token != hold.token:
        return None
    return stored.job
