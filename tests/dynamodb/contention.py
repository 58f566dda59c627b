"""How much claimers that meet cost one another: ``python -m tests.dynamodb.contention``."""

from __future__ import annotations

import io
import random
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

from jobqueue.job import Job, JobPriority
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.table import JobsTable
from tests.bench import prices
from tests.bench.life import ADMIN, JOB_TYPES
from tests.bench.meter import Meter
from tests.support.dynamodb_local import connect_anew, running
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = 600
RUNS = 5
DATABASE = "contention"
MOST_WRITES = 25  # that BatchWriteItem takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """What one job's claim cost, while others claimed beside.

    Attributes
    ----------
    lost : float
        Writes that came too late.
    queries, read_units : float
        Looks at the lane, and what they were billed.
    dollars : float
        For a million claims: the reads and the lost writes, without the write that every claim needs.
    displacement : float
        By how many places a job was claimed away from its turn.
    """

    lost: float
    queries: float
    read_units: float
    dollars: float
    displacement: float


class Lane:
    """Jobs that wait in one lane, and that are let wait again when they were claimed.

    Parameters
    ----------
    client : DynamoDB client
        Of an engine that has no tables yet.
    jobs : int
        How many.
    """

    def __init__(self, client: DynamoDBClient, jobs: int = JOBS) -> None:
        self._client, self._jobs = client, jobs
        self._name = create_tables(client)["JobsTable"]
        self._table = JobsTable(client, self._name, JOB_TYPES, timedelta(days=7))
        self._meter = Meter(client)
        queue = open_queue(self._table, random.Random(0))
        for _ in range(jobs):  # of the highest priority, so that one query is one look
            queue.enqueue(ADMIN, NewJob(type="bench", priority=JobPriority.CRITICAL))
        pages = client.get_paginator("scan").paginate(TableName=self._name)
        self._waiting = [item for page in pages for item in page["Items"]]

    def contend(self, claimers: int, *, batch: int = 1) -> Contention:
        """Let claimers empty the lane, each with a queue of its own, as separate processes have it."""
        self._fill()
        queues = [open_queue(self._table, random.Random(number)) for number in range(claimers)]
        start = Barrier(claimers)

        def drain(queue: JobQueue) -> list[Job]:
            claimed: list[Job] = []
            start.wait()
            while found := queue.claim_batch(ADMIN, batch):
                claimed += found
            return claimed

        with self._meter.measure() as bill, ThreadPoolExecutor(max_workers=claimers) as pool:
            taken = [job for jobs in pool.map(drain, queues) for job in jobs]
        jobs = self._jobs
        if len({job.id for job in taken}) != jobs or len(taken) != jobs:
            raise RuntimeError(f"{jobs} jobs were claimed {len(taken)} times")
        return Contention(
            lost=bill.refused / jobs,
            queries=(bill.calls - bill.refused - jobs) / jobs,
            read_units=bill.read_units / jobs,
            dollars=(bill.read_units * prices.READ_UNITS + bill.refused * prices.WRITE_UNITS) / jobs,
            displacement=displacement(taken),
        )

    def typical(self, claimers: int, *, batch: int = 1, runs: int = RUNS) -> Contention:
        """Return the median of some runs, number by number."""
        with redirect_stdout(io.StringIO()):  # where the queue writes its metrics
            outcomes = [self.contend(claimers, batch=batch) for _ in range(runs)]
        return Contention(
            **{
                field.name: statistics.median(getattr(outcome, field.name) for outcome in outcomes)
                for field in fields(Contention)
            }
        )

    def _fill(self) -> None:
        """Store the jobs as they were enqueued, in place of what became of them."""
        for first in range(0, len(self._waiting), MOST_WRITES):
            puts: list[Any] = [
                {"PutRequest": {"Item": item}} for item in self._waiting[first : first + MOST_WRITES]
            ]
            answer = self._client.batch_write_item(RequestItems={self._name: puts})
            if answer["UnprocessedItems"]:
                raise RuntimeError("the lane could not be filled")


def open_queue(table: JobsTable, rng: random.Random) -> JobQueue:
    """Open a queue that draws from `rng`."""
    return JobQueue(table, JOB_TYPES, backoff=Backoff(base_seconds=5, cap_seconds=900), rng=rng)


def displacement(taken: Sequence[Job]) -> float:
    """Return how far jobs were claimed from their turn, on average."""
    turns = sorted(taken, key=lambda job: (job.available_at, job.id))
    turn = {job.id: number for number, job in enumerate(turns)}
    claimed = sorted(taken, key=lambda job: (job.claimed_at or job.created_at, turn[job.id]))
    return statistics.mean(abs(turn[job.id] - number) for number, job in enumerate(claimed))


def typical(url: str, claimers: int, *, batch: int = 1, jobs: int = JOBS, runs: int = RUNS) -> Contention:
    """Return the median of some runs on a new lane (see `Lane`)."""
    return Lane(connect_anew(url, DATABASE), jobs).typical(claimers, batch=batch, runs=runs)


def main() -> None:
    """Print a line for each number of claimers."""
    with running() as url:
        for claimers, batch in ((1, 1), (4, 1), (16, 1), (64, 1), (1, 10), (16, 10)):
            sys.stdout.write(f"{claimers:2} claimers, by {batch:2}: {typical(url, claimers, batch=batch)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
