"""Gives the jobs of holders that went silent back to their queues.

The index shows the lease that a claim wrote. Heartbeats move only the item's lease, so what the index says
is a reason to look, and the item decides. Running it twice at once does no harm: every write is conditional.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import repeat
from typing import TypeAlias

from botocore.exceptions import ClientError

from jobqueue.conditions import LEASE_IS_OVER
from jobqueue.deciding import decide
from jobqueue.errors import JobNotFound, JobQueueError, Unavailable
from jobqueue.item import LaneEntry, StoredJob, Unreadable
from jobqueue.job import Clock, Job, JobFailure, JobStatus, JobSummary, format_timestamp, utc_now
from jobqueue.jobtype import JobTypes
from jobqueue.lanes import up_to
from jobqueue.lifecycle import LEASE_EXPIRED, LEASE_GRACE, Backoff, Decision, Ended, lease_ran_out
from jobqueue.retries import Retries
from jobqueue.settings import Settings
from jobqueue.table import JobsTable, Refused, open_table

PAGE = 50
MOST_PER_LANE = 500
"""Entries of one lane that one run looks at; the next run carries on with what is then the oldest."""

MOST_AT_ONCE = 16


class Found(StrEnum):
    """What became of one entry whose lease seemed to have run out."""

    REQUEUED = "requeued"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXTENDED = "extended"
    """Its holder had extended the lease: nothing is changed but the index."""
    GONE = "gone"
    """It is not running any more; the index was late, or somebody else was faster."""
    BROKEN = "broken"
    """It could not be read or written; the run goes on without it."""


OnFound: TypeAlias = Callable[[Found, Job | JobSummary | Unreadable, Exception | None], None]

# What an item that was spoiled by hand can lead to, or what DynamoDB refuses of it alone.
_BAD_ENTRY = (JobQueueError, ClientError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Rescuer:
    """Looks through the running jobs of every queue.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        The queues to look at.
    retries : Retries
        Decides what follows; a lost lease counts as a failure, or a job that kills its worker never ends.
    clock : Clock
        The time.
    on_found : callable or None
        Told of every entry: what became of it, the job as it is now or else as the index shows it, and the
        error if any.
    """

    def __init__(
        self,
        table: JobsTable,
        job_types: JobTypes,
        retries: Retries,
        *,
        clock: Clock = utc_now,
        on_found: OnFound | None = None,
    ) -> None:
        self._table = table
        self._job_types = job_types
        self._retries = retries
        self._clock = clock
        self._on_found = on_found

    def run(self) -> Counter[Found]:
        """Look once through all running lanes, side by side, and return how many became what.

        Raises
        ------
        Unavailable
            A lane could not be read; the others were looked through all the same.
        """
        lanes = [lane for queue in self._job_types.queues for lane in self._table.lanes.running(queue.name)]
        with ThreadPoolExecutor(max_workers=MOST_AT_ONCE) as pool:
            runs = [pool.submit(self._run_lane, lane) for lane in lanes]
        found: Counter[Found] = Counter()
        failed: JobQueueError | None = None
        for run in runs:
            try:
                found += run.result()
            except Unavailable as error:
                failed = error
        if failed is not None:
            raise failed
        return found

    def _run_lane(self, lane: str) -> Counter[Found]:
        return Counter(self._rescue(entry) for entry in self._expired(lane))

    def _expired(self, lane: str) -> Iterator[LaneEntry | Unreadable]:
        until = up_to(self._clock() - LEASE_GRACE)
        for page in self._table.index.pages(lane, repeat(PAGE, MOST_PER_LANE // PAGE), until=until):
            yield from page.entries
            yield from page.unreadable

    def _rescue(self, entry: LaneEntry | Unreadable) -> Found:
        seen = entry.summary if isinstance(entry, LaneEntry) else entry
        job: Job | None = None
        error: Exception | None = None
        try:
            found, job = self._decide(self._table.get(seen.id, self._clock()))
        except _BAD_ENTRY as broken:
            found, error = Found.BROKEN, broken
        if self._on_found is not None:
            self._on_found(found, job or seen, error)
        return found

    def _decide(self, stored: StoredJob | None) -> tuple[Found, Job | None]:
        try:
            return decide(stored, answer=self._answer, write=self._write)
        except JobNotFound:
            return Found.GONE, None

    def _answer(self, stored: StoredJob) -> tuple[Found, Job | None] | None:
        if stored.job.status is not JobStatus.RUNNING:
            return Found.GONE, None
        if not lease_ran_out(stored.job, self._clock()):
            self._table.refile(stored)
            return Found.EXTENDED, stored.job
        return None

    def _write(self, stored: StoredJob) -> tuple[Found, Job | None] | Refused:
        now = self._clock()
        decision = self._retries.after_failure(stored.job, now)
        failure = JobFailure(error=LEASE_EXPIRED, failed_at=now, worker_id=stored.job.worker_id)
        update = self._table.updates.settle(
            stored,
            decision,
            now=now,
            failure=failure,
            only_if=(LEASE_IS_OVER,),
            values={"over": format_timestamp(now - LEASE_GRACE)},
        )
        outcome = self._table.update(update)
        if not isinstance(outcome, Refused):
            return _found(decision), outcome.job
        if outcome.old is not None and _is_written(outcome.old.job, decision, failure):
            return _found(decision), outcome.old.job
        return outcome


def _is_written(job: Job, decision: Decision, failure: JobFailure) -> bool:
    """Tell whether a write was refused by its own success, whose reply was lost.

    A rescue leaves no mark, which would have to be paid for and is what tells it from a worker's report. So
    it is known by the microsecond of its failure, and by the jitter of the retry if there is one.
    """
    if not job.errors or job.errors[-1] != failure:
        return False
    return isinstance(decision, Ended) or job.available_at == decision.available_at


def _found(decision: Decision) -> Found:
    return _ENDED[decision.status] if isinstance(decision, Ended) else Found.REQUEUED


_ENDED = {
    JobStatus.FAILED: Found.FAILED,
    JobStatus.CANCELLED: Found.CANCELLED,
}


def open_rescuer(
    settings: Settings,
    job_types: JobTypes,
    *,
    on_found: OnFound | None = None,
) -> Rescuer:
    """Open the rescuer of a deployment (see `Rescuer`)."""
    backoff = Backoff(base_seconds=settings.backoff_base_seconds, cap_seconds=settings.backoff_cap_seconds)
    return Rescuer(
        open_table(settings, job_types),
        job_types,
        Retries(job_types, backoff, random.SystemRandom()),
        on_found=on_found,
    )
