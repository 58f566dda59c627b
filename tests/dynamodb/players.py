"""Those who do whatever they like with the same jobs, and write down what."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from jobqueue.errors import JobNotCancellable, JobNotHeld, JobNotRetryable, Unavailable
from jobqueue.job import Clock, Job, JobPriority, JobStatus
from jobqueue.lifecycle import LEASE_GRACE, Backoff
from jobqueue.queue import JobQueue, Lease, NewJob
from jobqueue.rescue import Found, Rescuer
from jobqueue.retries import Retries
from jobqueue.table import JobsTable
from tests.dynamodb.history import Call, Kind
from tests.dynamodb.leases import Held, Leases
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.support.callers import admin
from tests.support.workshop import RETENTION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEASES = (5, 10, 40)
MOST_HELD = 6
MEDDLES = 0.4
"""How often a holder moves at the last moment."""

BACKOFF = Backoff(base_seconds=0, cap_seconds=0)
RACER = admin("racer")
"""All share one credential, so that only their leases tell them apart."""

Answer = TypeVar("Answer")
_REFUSED = (JobNotHeld, JobNotCancellable, JobNotRetryable)


class Common:
    """What the players of one process share.

    Parameters
    ----------
    client : DynamoDB client
        Of the table of jobs.
    clock : Clock
        The time.
    max_retries : sequence of int
        Of which each new job has one.
    """

    def __init__(self, client: DynamoDBClient, clock: Clock, max_retries: Sequence[int] = (0, 2, 9)) -> None:
        self.table = JobsTable(client, "jobs", ONE_QUEUE, RETENTION)
        self.clock = clock
        self.max_retries = max_retries
        self.history: list[Call] = []
        self.leases = Leases()
        self.enqueued: deque[str] = deque(maxlen=20)
        self.ended: deque[str] = deque(maxlen=20)
        """Jobs that failed or were cancelled, and may be retried."""


class Player:
    """One thread. What DynamoDB does not answer, it asks again.

    Parameters
    ----------
    name : str
        Tells it from the others.
    common : Common
        What it shares with them.
    jobs : int
        How many to enqueue.
    """

    def __init__(self, name: str, common: Common, jobs: int = 0) -> None:
        self._name, self._common, self._to_enqueue = name, common, jobs
        self._rng = random.Random(name)
        self._queue = JobQueue(common.table, ONE_QUEUE, backoff=BACKOFF, clock=common.clock, rng=self._rng)
        self._rescuer = Rescuer(
            common.table,
            ONE_QUEUE,
            Retries(ONE_QUEUE, BACKOFF, self._rng),
            clock=common.clock,
            on_found=self._found,
        )
        self._found_nothing = True
        self._rescue_began = 0

    def moves(self) -> Sequence[Callable[[], object]]:
        """Return what may come next, the likely more than once."""
        moves: list[Callable[[], object]] = [self.rescue, *[self._cancel, self._retry] * 2]
        moves += [self._use_one] * 8 + [self._use_late] * 3
        if self._common.leases.held_by(self._name) < MOST_HELD:
            moves += [lambda: self.claim(self._rng.choice((1, 3, 5)))] * (4 if self._found_nothing else 10)
        if self._to_enqueue and self._found_nothing:
            moves += [lambda: self.enqueue(8)] * 4
        return moves

    def play(self) -> None:
        """Make one move."""
        self._rng.choice(self.moves())()

    def come_back(self, advance: Callable[[float], object]) -> None:
        """Stay away until the lease is over and somebody has the job, and then behave as if nothing were."""
        held = self._common.leases.take(self._name, self._rng)
        if held is None:
            return
        away = held.expires_at + LEASE_GRACE - self._common.clock()
        advance(max(0.0, away.total_seconds()))
        self._rng.choice((self.rescue, lambda: self.claim(5)))()
        self.claim(5)
        self._use(held, extends=0.4)

    def meddle(self, operation: str, read: Callable[[], dict[str, Any]]) -> None:
        """Let a holder move right before the write that takes its job from it: it has been read by then."""
        if operation != "UpdateItem" or ":over" not in (request := read())["ExpressionAttributeValues"]:
            return
        if self._rng.random() < MEDDLES:
            held = self._common.leases.take_of_job(request["Key"]["id"]["S"])
            if held is not None:
                self._use(held, extends=0.6)

    def enqueue(self, most: int) -> None:
        """Enqueue some of the jobs that are left."""
        for _ in range(min(most, self._to_enqueue)):
            self._to_enqueue -= 1
            new = NewJob(
                type="eager",
                priority=self._rng.choice((JobPriority.LOW, JobPriority.CRITICAL)),
                max_retries=self._rng.choice(self._common.max_retries),
                idempotency_key=f"{self._name}-{self._to_enqueue}",
            )
            start = time.monotonic_ns()
            while not (made := self._answered(partial(self._queue.enqueue, RACER, new))):
                pass
            self._write(Kind.ENQUEUE, start, made.job.id, job=made.job)
            self._common.enqueued.append(made.job.id)
        self._found_nothing = False

    def claim(self, jobs: int) -> bool:
        """Claim up to so many jobs; tell whether there may be more."""
        start = time.monotonic_ns()
        seconds = self._rng.choice(LEASES)
        claimed = self._answered(lambda: self._queue.claim_batch(RACER, jobs, lease_seconds=seconds))
        for job in claimed or ():
            assert job.lease_expires_at is not None
            self._write(Kind.CLAIM, start, job.id, job.lease_token, job=job, expires_at=job.lease_expires_at)
            self._common.leases.put(Held(owner=self._name, job=job, expires_at=job.lease_expires_at))
        self._found_nothing = claimed == ()
        return not self._found_nothing

    def complete_all(self) -> None:
        """Complete all that is held."""
        while held := self._common.leases.take(self._name, self._rng):
            self._end(Kind.COMPLETE, held)

    def rescue(self) -> None:
        self._rescue_began = time.monotonic_ns()
        self._answered(self._rescuer.run)

    def _use_one(self) -> None:
        """Do something with a job of one's own, whether its lease has run out meanwhile or not."""
        if held := self._common.leases.take(self._name, self._rng):
            self._use(held)

    def _use_late(self) -> None:
        """Do something with a job that somebody else may have had for long."""
        late = self._common.clock() - 2 * LEASE_GRACE
        if held := self._common.leases.take(self._name, self._rng, over_by=late):
            self._use(held)

    def _use(self, held: Held, *, extends: float = 0.3) -> None:
        if self._rng.random() < extends:
            self._extend(held)
        else:
            self._end(self._rng.choices((Kind.COMPLETE, Kind.FAIL, Kind.RELEASE), (5, 3, 2))[0], held)

    def _end(self, kind: Kind, held: Held) -> None:
        job_id, token, delay = held.job.id, held.job.lease_token, self._rng.choice((None, 2))
        calls: dict[Kind, Callable[[], Job]] = {
            Kind.COMPLETE: lambda: self._queue.complete(RACER, job_id, lease_token=token, result=job_id),
            Kind.FAIL: lambda: self._queue.fail(RACER, job_id, lease_token=token),
            Kind.RELEASE: lambda: self._queue.release(RACER, job_id, lease_token=token, delay_seconds=delay),
        }
        self._insist(kind, calls[kind], job_id, held)

    def _extend(self, held: Held) -> None:
        job, seconds = held.job, self._rng.choice(LEASES)
        self._insist(
            Kind.EXTEND,
            lambda: self._queue.extend(RACER, job.id, lease_token=job.lease_token, lease_seconds=seconds),
            job.id,
            held,
        )

    def _cancel(self) -> None:
        known = [*self._common.enqueued, *self._common.leases.jobs()]
        if known:
            job_id = self._rng.choice(known)
            self._insist(Kind.CANCEL, lambda: self._queue.cancel(RACER, job_id), job_id)

    def _retry(self) -> None:
        if self._common.ended:
            job_id = self._common.ended.popleft()
            self._insist(Kind.RETRY, lambda: self._queue.retry(RACER, job_id), job_id)

    def _found(self, found: Found, job: object, _: Exception | None) -> None:
        if found in {Found.REQUEUED, Found.FAILED, Found.CANCELLED} and isinstance(job, Job):
            self._write(Kind.RESCUE, self._rescue_began, job.id, job=job)

    def _insist(
        self, kind: Kind, call: Callable[[], Job | Lease], job_id: str, held: Held | None = None
    ) -> None:
        """Call until there is an answer, and write it down."""
        start, is_first = time.monotonic_ns(), True
        token, by = (held.job.lease_token, held.owner) if held else (None, self._name)
        try:
            while (answer := self._answered(call)) is None:
                is_first = False
        except _REFUSED:
            if is_first:  # else it may have been carried out
                self._write(kind, start, job_id, token, by=by, refused_at=self._common.clock())
            return
        if isinstance(answer, Job):
            self._write(kind, start, job_id, token, by=by, job=answer)
            return
        self._write(kind, start, job_id, token, by=by, expires_at=answer.lease_expires_at)
        if held:
            self._common.leases.put(replace(held, expires_at=answer.lease_expires_at))

    def _answered(self, call: Callable[[], Answer]) -> Answer | None:
        """Return what a call answers; None where DynamoDB does not."""
        try:
            return call()
        except Unavailable:
            return None

    def _write(
        self,
        kind: Kind,
        start: int,
        job_id: str,
        token: str | None = None,
        *,
        by: str | None = None,
        job: Job | None = None,
        **more: Any,
    ) -> None:
        self._common.history.append(
            Call(
                start=start,
                end=time.monotonic_ns(),
                caller=by or self._name,
                kind=kind,
                job_id=job_id,
                token=token,
                job=job,
                **more,
            )
        )
        if job is not None and job.status in {JobStatus.FAILED, JobStatus.CANCELLED}:
            self._common.ended.append(job_id)
