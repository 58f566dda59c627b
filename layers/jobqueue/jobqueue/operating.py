"""What operators do with whole queues: see what is in them, pause and resume them, retry what failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from jobqueue import telemetry
from jobqueue.declared import type_errors
from jobqueue.dynamodb import make_client
from jobqueue.errors import InvalidRequest, JobNotFound, JobNotRetryable, QueueNotFound, Unavailable
from jobqueue.job import Clock, JobPriority, JobStatus, format_timestamp, utc_now
from jobqueue.jobtype import JobTypes
from jobqueue.lanequeries import Between, LaneQueries, Search, open_lane_queries
from jobqueue.lanes import up_to
from jobqueue.oldest import oldest_ready
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue, open_queue
from jobqueue.queues import QueueRecord, QueuesTable, counter, open_queues_table
from jobqueue.settings import Settings
from jobqueue.table import JobsTable, open_table

SIDE_BY_SIDE = 10
SEARCH_SECONDS = 7.0
STEP_SECONDS = 14.0
"""How long one step of a retry in bulk looks for jobs, and when it begins the last retry. A request may take
29 s, and a call of DynamoDB 12 s at the worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """What is in a queue.

    Attributes
    ----------
    name : str
        The queue.
    paused : bool
        Whether it hands out no jobs.
    waiting : mapping of JobPriority to int
        Pending jobs, delayed ones included.
    others : mapping of JobStatus to int
        Jobs in every other status. Finished jobs count until DynamoDB has deleted them, which may be up to
        two days after their retention.
    oldest_ready_since : datetime or None
        Since when the oldest job has been ready that nobody has claimed.
    """

    name: str
    paused: bool
    waiting: Mapping[JobPriority, int]
    others: Mapping[JobStatus, int]
    oldest_ready_since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What was in some queues at one moment."""

    at: datetime
    queues: tuple[QueueState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedJobs:
    """What one step of a retry in bulk did.

    Attributes
    ----------
    retried : int
        Jobs that are pending again.
    skipped : int
        Jobs that had moved meanwhile.
    more : bool
        Whether jobs may be left.
    """

    retried: int
    skipped: int
    more: bool


class Operator:
    """The use cases. Every method may raise `Unavailable`; repeating the call is then safe.

    Parameters
    ----------
    queue : JobQueue
        Retries jobs.
    jobs : JobsTable
        Where the jobs are.
    lane_queries : LaneQueries
        Finds them.
    queues : QueuesTable
        Flags and counters.
    job_types : JobTypes
        The queues and types of the deployment.
    clock : Clock
        The time.
    monotonic : callable
        Seconds that nobody sets back.
    """

    def __init__(
        self,
        queue: JobQueue,
        jobs: JobsTable,
        lane_queries: LaneQueries,
        queues: QueuesTable,
        job_types: JobTypes,
        *,
        clock: Clock = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._jobs = jobs
        self._lane_queries = lane_queries
        self._queues = queues
        self._job_types = job_types
        self._clock = clock
        self._monotonic = monotonic

    def overview(self, caller: Principal) -> Overview:
        """Return what is in each queue that is granted. Costs the same however many jobs there are."""
        now = self._clock()
        names = caller.granted(queue.name for queue in self._job_types.queues)
        records = self._queues.read(names)
        with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            oldest = oldest_ready(self._jobs, names, now, pool)
        return Overview(at=now, queues=tuple(_state(records[name], oldest) for name in names))

    def pause(self, caller: Principal, queue: str) -> None:
        """Let a queue hand out no jobs, within ten seconds everywhere. It goes on taking them.

        Raises
        ------
        QueueNotFound
            There is no such queue, or it is not granted.
        """
        self._require(caller, queue)
        self._queues.set_paused(queue, True)

    def resume(self, caller: Principal, queue: str) -> None:
        """Let a paused queue hand out jobs again (see `pause`)."""
        self._require(caller, queue)
        self._queues.set_paused(queue, False)

    def retry_jobs(
        self,
        caller: Principal,
        queue: str,
        status: JobStatus,
        *,
        limit: int,
        type_name: str | None = None,
        finished_before: datetime | None = None,
    ) -> RetriedJobs:
        """Retry the oldest jobs of a queue that failed or were cancelled: one step, to be repeated.

        Parameters
        ----------
        caller : Principal
            An admin.
        queue : str
            The queue.
        status : JobStatus
            Failed or cancelled.
        limit : int
            How many jobs to retry at most.
        type_name : str or None
            Only jobs of this type.
        finished_before : datetime or None
            Only jobs that finished earlier; None means now. With the same time in every step, jobs that fail
            again are not retried again.

        Raises
        ------
        QueueNotFound
            There is no such queue, or it is not granted.
        InvalidRequest
            The type is not declared.
        """
        self._require(caller, queue)
        if unknown := type_errors(type_name, self._job_types):
            raise InvalidRequest(*unknown)
        began, now = self._monotonic(), self._clock()
        last_expired = self._jobs.last_expired(now)
        since, until = up_to(last_expired), up_to(now)
        # compared as times: one at the calendar's edge cannot be written in UTC
        if finished_before is not None and finished_before <= last_expired:
            return RetriedJobs(retried=0, skipped=0, more=False)
        if finished_before is not None and finished_before <= now:
            until = format_timestamp(finished_before)
        search = Search(
            self._lane_queries,
            type_name,
            Between(since, until),
            page=limit + 1,
            is_late=lambda: self._monotonic() >= began + SEARCH_SECONDS,
        )
        found = search.places(self._jobs.lanes.finished(queue, status))
        ids = [job_id for _, job_id in islice(found, limit + 1)]
        outcomes = self._retry(caller, ids[:limit], began + STEP_SECONDS)
        retried, skipped = outcomes.count(True), outcomes.count(False)
        return RetriedJobs(
            retried=retried,
            skipped=skipped,
            more=search.is_cut_off or len(ids) > retried + skipped,
        )

    def _retry(self, caller: Principal, ids: list[str], give_up: float) -> list[bool | None]:
        """Retry jobs side by side; tell of each whether it is pending again, None where it was not tried."""

        def retry(job_id: str) -> bool | None:
            if self._monotonic() >= give_up:
                return None
            try:
                job = self._queue.retry(caller, job_id)
            except (JobNotFound, JobNotRetryable):
                return False  # somebody else was faster, and the index is late
            telemetry.decision("retry_jobs", job.status.value, job)
            return True

        with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            tried = [pool.submit(retry, job_id) for job_id in ids]
        outcomes = [None if isinstance(one.exception(), Unavailable) else one.result() for one in tried]
        if ids and not any(outcome is not None for outcome in outcomes):
            raise Unavailable
        return outcomes

    def _require(self, caller: Principal, queue: str) -> None:
        if not self._job_types.has_queue(queue) or not caller.may_use(queue):
            raise QueueNotFound


def open_operator(settings: Settings, job_types: JobTypes) -> Operator:
    """Open the operator of a deployment."""
    client = make_client()
    return Operator(
        open_queue(settings, job_types, client=client),
        open_table(settings, job_types, client=client),
        open_lane_queries(settings, client=client),
        open_queues_table(settings, client=client),
        job_types,
    )


def _state(record: QueueRecord, oldest: Mapping[tuple[str, JobPriority], datetime]) -> QueueState:
    since = [oldest[record.name, priority] for priority in JobPriority if (record.name, priority) in oldest]
    return QueueState(
        name=record.name,
        paused=record.paused,
        waiting={priority: _number(record, JobStatus.PENDING, priority) for priority in JobPriority},
        others={
            status: _number(record, status, JobPriority.LOW)
            for status in JobStatus
            if status is not JobStatus.PENDING
        },
        oldest_ready_since=min(since, default=None),
    )


def _number(record: QueueRecord, status: JobStatus, priority: JobPriority) -> int:
    # changes of one job in two batches may be counted the wrong way round, for a moment
    return max(0, record.counts.get(counter(status, priority), 0))
