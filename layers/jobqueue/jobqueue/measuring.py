"""Measures the queues once a minute: how many jobs wait, and for how long the oldest one has been ready.

A metric costs money for each hour in which it has a value. So a lane that is empty has none, but for one zero
after it had another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from jobqueue import telemetry
from jobqueue.dynamodb import make_client
from jobqueue.errors import Unavailable
from jobqueue.job import Clock, JobPriority, JobStatus, utc_now
from jobqueue.jobtype import JobTypes
from jobqueue.lanequeries import open_lane_queries
from jobqueue.metrics import Measures, Metric
from jobqueue.oldest import oldest_ready
from jobqueue.queues import QueueRecord, QueuesTable, counter, open_queues_table
from jobqueue.recounting import Recounter
from jobqueue.settings import Settings
from jobqueue.table import JobsTable, open_table

ACTION = "measure_queues"
SIDE_BY_SIDE = 16

_SECOND = timedelta(seconds=1)


class Measurer:
    """Looks at every queue.

    Parameters
    ----------
    jobs : JobsTable
        Where the oldest jobs are.
    queues : QueuesTable
        Has the counters.
    recounter : Recounter
        Mends them.
    job_types : JobTypes
        The queues.
    clock : Clock
        The time.
    """

    def __init__(
        self,
        jobs: JobsTable,
        queues: QueuesTable,
        recounter: Recounter,
        job_types: JobTypes,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._jobs = jobs
        self._queues = queues
        self._recounter = recounter
        self._names = [queue.name for queue in job_types.queues]
        self._clock = clock
        self._told: set[tuple[str, JobPriority]] = set()

    def run(self) -> None:
        """Measure all queues, and recount those that are due.

        Raises
        ------
        Unavailable
            DynamoDB was busy; what could be measured was told.
        """
        now = self._clock()
        records = self._queues.read(self._names)
        with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            oldest = oldest_ready(self._jobs, self._names, now, pool)
            self._measure(records, oldest, now)
            recounts = [pool.submit(self._recount, records[name], now) for name in self._names]
        for recount in recounts:
            recount.result()

    def _measure(
        self,
        records: Mapping[str, QueueRecord],
        oldest: Mapping[tuple[str, JobPriority], datetime],
        now: datetime,
    ) -> None:
        measures = Measures()
        for queue, priority in ((queue, priority) for queue in self._names for priority in JobPriority):
            depth = max(0, records[queue].counts.get(counter(JobStatus.PENDING, priority), 0))
            since = oldest.get((queue, priority))
            age = 0.0 if since is None else (now - since) / _SECOND
            if depth or since or (queue, priority) in self._told:
                measures.add(Metric.DEPTH, depth, queue=queue, priority=priority.value)
                measures.add(Metric.OLDEST_AGE, age, queue=queue, priority=priority.value)
            if depth or since:
                self._told.add((queue, priority))
            else:
                self._told.discard((queue, priority))
        measures.write()

    def _recount(self, record: QueueRecord, now: datetime) -> None:
        try:
            corrections = self._recounter.recount(record, now)
        except Unavailable:
            telemetry.decision(ACTION, "not-recounted", queue=record.name)
            raise
        for name, correction in corrections.items():
            telemetry.decision(ACTION, "corrected", queue=record.name, counter=name, by=correction)


def open_measurer(settings: Settings, job_types: JobTypes) -> Measurer:
    """Open the measurer of a deployment."""
    client = make_client()
    queues = open_queues_table(settings, client=client)
    recounter = Recounter(queues, open_lane_queries(settings, client=client), job_types)
    return Measurer(open_table(settings, job_types, client=client), queues, recounter, job_types)
