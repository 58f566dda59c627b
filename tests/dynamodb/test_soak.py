"""Many jobs through a DynamoDB that fails all the time, and whose index is always late."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from jobqueue.errors import JobNotHeld, Unavailable
from jobqueue.job import Job, JobStatus
from jobqueue.queue import JobQueue, NewJob
from jobqueue.rescue import Rescuer
from jobqueue.retries import Retries
from jobqueue.table import JobsTable
from tests.dynamodb.history import Call, Kind, violations
from tests.dynamodb.racing import BACKOFF, RACER, FastClock, all_jobs
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.dynamodb.test_races import JOBS, LONGER
from tests.support.botofaults import Fault, Faults
from tests.support.workshop import RETENTION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WORKERS = 4
SHARE = 0.08
STALEST = 20
LEASE_SECONDS = 20


def test_nothing_is_lost_or_done_twice(client: DynamoDBClient) -> None:
    jobs, rng, faults = JOBS * LONGER, random.Random(1), Faults.of(client)
    done: set[str] = set()
    clock = FastClock(time.monotonic())
    workers = [Worker(f"worker-{number}", client, clock, jobs, done) for number in range(WORKERS)]
    with (
        faults.stale_index(lambda: rng.randrange(STALEST) or None),
        faults.at_random(SHARE, rng) as injected,
        ThreadPoolExecutor(max_workers=WORKERS) as pool,
    ):
        histories = list(pool.map(Worker.work, workers, range(WORKERS)))
    final = all_jobs(client)
    history = [call for calls in histories for call in calls]
    assert violations(history, final, all_was_heard=False) == []
    assert Counter(job.status for job in final.values()) == {JobStatus.COMPLETED: jobs}
    assert sorted(job.result for job in final.values()) == list(range(jobs))
    assert set(injected) == set(Fault)


class Worker:
    """Enqueues its share of the jobs, then works until all jobs are done, whoever did them.

    Parameters
    ----------
    name : str
        Tells it from the others.
    client : DynamoDB client
        Of the table of jobs.
    clock : FastClock
        The time.
    jobs : int
        How many there are in all.
    done : set of str
        Which are completed; shared by all.
    """

    def __init__(
        self, name: str, client: DynamoDBClient, clock: FastClock, jobs: int, done: set[str]
    ) -> None:
        self._name, self._jobs, self._done = name, jobs, done
        self._rng = random.Random(name)
        table = JobsTable(client, "jobs", ONE_QUEUE, RETENTION)
        self._queue = JobQueue(table, ONE_QUEUE, backoff=BACKOFF, clock=clock, rng=self._rng)
        self._rescuer = Rescuer(table, ONE_QUEUE, Retries(ONE_QUEUE, BACKOFF, self._rng), clock=clock)
        self._history: list[Call] = []

    def work(self, first: int) -> list[Call]:
        """Do it, and return what was called."""
        for number in range(first, self._jobs, WORKERS):
            self._insist(Kind.ENQUEUE, partial(self._enqueue, number))
        for turn in range(100 * self._jobs):
            if len(self._done) == self._jobs:
                return self._history
            with suppress(Unavailable):
                if turn % 50 == 0:
                    self._rescuer.run()
                for job in self._claim():
                    self._end(job)
        raise AssertionError(f"{self._jobs - len(self._done)} jobs do not end")

    def _enqueue(self, number: int) -> Job:
        new = NewJob(
            type="eager", payload={"number": number}, max_retries=100, idempotency_key=f"key-{number}"
        )
        return self._queue.enqueue(RACER, new).job

    def _claim(self) -> Sequence[Job]:
        start = time.monotonic_ns()
        jobs = self._queue.claim_batch(RACER, self._rng.choice((1, 3)), lease_seconds=LEASE_SECONDS)
        for job in jobs:
            self._write(Kind.CLAIM, start, job, job)
        return jobs

    def _end(self, job: Job) -> None:
        """Complete the job, or fail it, or forget it."""
        token = job.lease_token
        match self._rng.choices(("complete", "fail", "forget"), (90, 8, 2))[0]:
            case "complete":
                complete = partial(
                    self._queue.complete, RACER, job.id, lease_token=token, result=job.payload["number"]
                )
                if self._insist(Kind.COMPLETE, complete, job):
                    self._done.add(job.id)
            case "fail":
                self._insist(Kind.FAIL, partial(self._queue.fail, RACER, job.id, lease_token=token), job)

    def _insist(self, kind: Kind, call: Callable[[], Job], held: Job | None = None) -> bool:
        """Call until there is an answer: what may have landed is called again."""
        start = time.monotonic_ns()
        while True:
            try:
                self._write(kind, start, call(), held)
            except Unavailable:
                continue
            except JobNotHeld:
                return False
            return True

    def _write(self, kind: Kind, start: int, job: Job, held: Job | None) -> None:
        self._history.append(
            Call(
                start=start,
                end=time.monotonic_ns(),
                caller=self._name,
                kind=kind,
                job_id=job.id,
                token=held.lease_token if held else None,
                job=job,
                expires_at=job.lease_expires_at if kind is Kind.CLAIM else None,
            )
        )
