"""A workshop with its office: flags and counts of queues, and who follows what happens to jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jobqueue.changes import Change
from jobqueue.following import Follower
from jobqueue.item import read_entry
from jobqueue.jobtype import JobTypes
from jobqueue.lanequeries import LaneQueries
from jobqueue.measuring import Measurer
from jobqueue.operating import Operator
from jobqueue.pauses import Pauses
from jobqueue.queue import JobQueue
from jobqueue.queues import QueueRecord, QueuesTable, counter
from jobqueue.recounting import Recounter
from tests.support.streams import Records, Stream
from tests.support.workshop import JOB_TYPES, JOBS, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

QUEUES = "queues"


class Bus:
    """An event bus that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Change] = []
        self.refuses_from: int | None = None
        """The first change of each batch that it will not take."""

    def announce(self, changes: Sequence[Change]) -> int:
        taken = len(changes) if self.refuses_from is None else min(self.refuses_from, len(changes))
        self.told += changes[:taken]
        return taken


class Office(Workshop):
    """A workshop whose queues can be paused, counted and measured.

    Parameters
    ----------
    client : DynamoDB client
        Of an engine that has the tables of template.yaml, empty.
    job_types : JobTypes
        What the deployment declares.
    """

    def __init__(self, client: DynamoDBClient, job_types: JobTypes = JOB_TYPES) -> None:
        self.queues = QueuesTable(client, QUEUES)
        self.bus = Bus()
        self.job_types = job_types
        super().__init__(client, job_types)
        self.lane_queries = LaneQueries(client, JOBS)
        self.follower = Follower(self.queues, self.bus, job_types)
        self.operator = self.an_operator()
        self.measurer = self.a_measurer()

    def another_queue(self, job_types: JobTypes = JOB_TYPES, **options: Any) -> JobQueue:
        """Make another queue on the same tables, as another process has it."""
        return super().another_queue(job_types, pauses=self.some_pauses(job_types), **options)

    def some_pauses(self, job_types: JobTypes = JOB_TYPES) -> Pauses:
        """Make what a process knows of paused queues, which is nothing yet."""
        return Pauses(self.queues, self.clock, (queue.name for queue in job_types.queues))

    def an_operator(self, **options: Any) -> Operator:
        """Make an operator, as another process has it."""
        return Operator(
            self.queue,
            self.table(self.job_types),
            self.lane_queries,
            self.queues,
            self.job_types,
            clock=self.clock,
            **options,
        )

    def a_measurer(self, **options: Any) -> Measurer:
        """Make a measurer, as another process has it."""
        recounter = Recounter(self.queues, self.lane_queries, self.job_types, **options)
        return Measurer(self.table(self.job_types), self.queues, recounter, self.job_types, clock=self.clock)

    def records(self) -> Records:
        """Return what the stream of the jobs table tells that was not returned before."""
        return self._stream.read()

    @cached_property
    def _stream(self) -> Stream:
        return Stream(self.client, JOBS)

    def follow(self) -> None:
        """Let the follower hear of all that has happened since."""
        if records := self.records():
            assert self.follower.follow(records) is None

    def record(self, queue: str = "default") -> QueueRecord:
        """Return what the queues table tells of a queue."""
        return self.queues.read([queue])[queue]

    def counts(self, queue: str = "default") -> dict[str, int]:
        """Return the counters of a queue that are not zero."""
        return {name: count for name, count in self.record(queue).counts.items() if count}

    def counted(self, queue: str = "default") -> dict[str, int]:
        """Return what the counters of a queue should be, by counting all jobs."""
        items = self.client.scan(TableName=JOBS)["Items"]
        jobs = [read_entry(item).summary for item in items]
        return dict(Counter(counter(job.status, job.priority) for job in jobs if job.queue == queue))

    def measure(self, minutes: int = 1) -> None:
        """Let some minutes pass, and measure after each of them."""
        for _ in range(minutes):
            self.clock.advance(60)
            self.measurer.run()
