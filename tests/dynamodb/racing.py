"""Many threads of several processes that do whatever they like with the same jobs, and write down what."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from jobqueue.errors import JobNotCancellable, JobNotHeld, JobNotRetryable
from jobqueue.item import read_job
from jobqueue.job import Job, JobPriority
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.rescue import Rescuer
from jobqueue.retries import Retries
from jobqueue.table import JobsTable
from tests.dynamodb.history import Call, Kind
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.support import dynamodb_local
from tests.support.callers import admin
from tests.support.clock import START
from tests.support.workshop import RETENTION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SPEED = 40
LEASES = (10, 30, 120)
BACKOFF = Backoff(base_seconds=0, cap_seconds=0)
RACER = admin("racer")
"""All share one credential, so that only their leases tell them apart."""


@dataclass(frozen=True, slots=True)
class FastClock:
    """A time that passes quickly, and is the same in all processes of a machine.

    Attributes
    ----------
    zero : float
        When it began, as the monotonic clock told.
    skipped : timedelta
        By how much it is ahead.
    """

    zero: float
    skipped: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        """Tell the time."""
        return START + self.skipped + SPEED * timedelta(seconds=time.monotonic() - self.zero)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What the processes of a race have in common."""

    url: str
    database: str
    clock: FastClock
    jobs: int
    turns: int

    def connect(self) -> DynamoDBClient:
        """Make a client."""
        return dynamodb_local.connect(self.url, self.database)


class Player:
    """One thread.

    Parameters
    ----------
    name : str
        Of the process and the thread.
    client : DynamoDB client
        Of the table of jobs.
    clock : FastClock
        The time.
    jobs : int
        How many to enqueue.
    """

    def __init__(self, name: str, client: DynamoDBClient, clock: FastClock, jobs: int = 0) -> None:
        table = JobsTable(client, "jobs", ONE_QUEUE, RETENTION)
        self.history: list[Call] = []
        self._name = name
        self._rng = random.Random(name)
        self._queue = JobQueue(table, ONE_QUEUE, backoff=BACKOFF, clock=clock, rng=self._rng)
        self._rescuer = Rescuer(table, ONE_QUEUE, Retries(ONE_QUEUE, BACKOFF, self._rng), clock=clock)
        self._to_enqueue = jobs
        self._seen: list[str] = []
        self._held: list[Job] = []

    def play(self, turns: int) -> list[Call]:
        """Do something so many times, then let go of nothing: what is held is left to its lease."""
        for _ in range(turns):
            move = self._rng.choice(self._moves())
            move()
        while self._to_enqueue:
            self._enqueue()
        return self.history

    def work_all(self) -> list[Call]:
        """Complete all that can be claimed."""
        self._rescuer.run()
        while self._claim(10):
            while self._held:
                self._complete()
        return self.history

    def _moves(self) -> Sequence[Callable[[], object]]:
        if self._held and self._rng.random() < 0.75:
            return [self._complete] * 5 + [self._fail] * 3 + [self._release, self._extend, self._abandon]
        moves: list[Callable[[], object]] = [self._claim] * 12 + [lambda: self._claim(3), self._rescue]
        if self._to_enqueue:
            moves += [self._enqueue] * 12
        if self._seen:
            moves += [self._cancel, self._retry] * 2
        return moves

    def _enqueue(self) -> None:
        for _ in range(min(5, self._to_enqueue)):
            self._to_enqueue -= 1
            priority = self._rng.choice(list(JobPriority))
            new = NewJob(type="eager", priority=priority, max_retries=self._rng.choice((0, 2, 9)))
            self._note(Kind.ENQUEUE, partial(self._put, new))

    def _put(self, new: NewJob) -> Job:
        return self._queue.enqueue(RACER, new).job

    def _claim(self, jobs: int = 1) -> bool:
        start = time.monotonic_ns()
        claimed = self._queue.claim_batch(RACER, jobs, lease_seconds=self._rng.choice(LEASES))
        for job in claimed:
            self._write(Kind.CLAIM, start, job, job.lease_token, job.lease_expires_at)
        self._held += claimed
        return bool(claimed)

    def _complete(self) -> None:
        job = self._pick()
        self._note(
            Kind.COMPLETE, lambda: self._queue.complete(RACER, job.id, lease_token=job.lease_token), job
        )

    def _fail(self) -> None:
        job = self._pick()
        self._note(Kind.FAIL, lambda: self._queue.fail(RACER, job.id, lease_token=job.lease_token), job)

    def _release(self) -> None:
        job, delay = self._pick(), self._rng.choice((None, 5))
        self._note(
            Kind.RELEASE,
            lambda: self._queue.release(RACER, job.id, lease_token=job.lease_token, delay_seconds=delay),
            job,
        )

    def _extend(self) -> None:
        job, seconds = self._rng.choice(self._held), self._rng.choice(LEASES)
        start = time.monotonic_ns()
        try:
            lease = self._queue.extend(RACER, job.id, lease_token=job.lease_token, lease_seconds=seconds)
        except JobNotHeld:
            return
        self._write(Kind.EXTEND, start, job, job.lease_token, lease.lease_expires_at)

    def _abandon(self) -> None:
        self._pick()

    def _cancel(self) -> None:
        job_id = self._rng.choice(self._seen[-20:])
        self._note(Kind.CANCEL, lambda: self._queue.cancel(RACER, job_id))

    def _retry(self) -> None:
        job_id = self._rng.choice(self._seen[-20:])
        self._note(Kind.RETRY, lambda: self._queue.retry(RACER, job_id))

    def _rescue(self) -> None:
        self._rescuer.run()

    def _pick(self) -> Job:
        return self._held.pop(self._rng.randrange(len(self._held)))

    def _note(self, kind: Kind, call: Callable[[], Job], held: Job | None = None) -> None:
        start = time.monotonic_ns()
        try:
            job = call()
        except (JobNotHeld, JobNotCancellable, JobNotRetryable):
            return
        self._write(kind, start, job, held.lease_token if held else None, None)

    def _write(
        self, kind: Kind, start: int, job: Job, token: str | None, expires_at: datetime | None
    ) -> None:
        self._seen.append(job.id)
        self.history.append(
            Call(
                start=start,
                end=time.monotonic_ns(),
                caller=self._name,
                kind=kind,
                job_id=job.id,
                token=token,
                job=None if kind is Kind.EXTEND else job,
                expires_at=expires_at,
            )
        )


def play_in_a_process(race: Race, number: int, threads: int) -> list[Call]:
    """Play with some threads, and return what was called."""
    client = race.connect()
    players = [Player(f"{number}.{at}", client, race.clock, race.jobs) for at in range(threads)]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        histories = list(pool.map(lambda player: player.play(race.turns), players))
    return [call for history in histories for call in history]


def all_jobs(client: DynamoDBClient) -> dict[str, Job]:
    """Read every job, past the queue."""
    pages = client.get_paginator("scan").paginate(TableName="jobs")
    jobs = [read_job(item).job for page in pages for item in page["Items"]]
    return {job.id: job for job in jobs}
