"""The queue against a model of it. On moto, which is the faster engine for one caller at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import boto3
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from moto import mock_aws

from jobqueue.errors import (
    JobNotCancellable,
    JobNotFound,
    JobNotHeld,
    JobNotRetryable,
    JobQueueError,
    ReplayMismatch,
)
from jobqueue.item import read_job
from jobqueue.job import Job, JobPriority
from jobqueue.principal import Principal
from jobqueue.queue import NewJob
from jobqueue.takeover import MOST_IN_VAIN
from tests.dynamodb.model import CANCELLED, COMPLETED, FAILED, Model, ModelJob
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.support.tables import create_tables
from tests.support.workshop import MAILER, OPS, PRINTER, SHOP, STORE, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TYPE = "eager"
"""Knows no backoff, so that there is no chance in it."""

DAY = 24 * 3600
LONGER = int(os.environ.get("JOBQUEUE_SOAK", "1"))

priorities = st.sampled_from(JobPriority)
workers = st.sampled_from([MAILER, PRINTER])
waits = st.sampled_from([None, 0, 30])
some = st.integers(0, 30)


@cache
def client() -> DynamoDBClient:
    """Make a client, which takes longer than a whole run of the machine."""
    return boto3.client("dynamodb")


class QueueMachine(RuleBasedStateMachine):
    """Does anything in any order, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self._open = ExitStack()
        self._open.enter_context(mock_aws())
        create_tables(client())
        self.workshop = Workshop(client(), ONE_QUEUE)
        self.model = Model()
        self.leases: list[Job] = []
        self.done: set[tuple[str, str, str]] = set()

    def teardown(self) -> None:
        self._open.close()

    @property
    def now(self) -> datetime:
        return self.workshop.clock.now

    @initialize()
    def begin(self) -> None:
        """Have a job, for the rules that need one."""
        self.enqueue(JobPriority.LOW, 2, 0)

    @rule(priority=priorities, max_retries=st.integers(0, 2), delay=waits)
    def enqueue(self, priority: JobPriority, max_retries: int, delay: int | None) -> None:
        self._enqueued(NewJob(type=TYPE, priority=priority, max_retries=max_retries, delay_seconds=delay))

    @rule(key=st.sampled_from(["k1", "k2"]))
    def enqueue_with_a_key(self, key: str) -> None:
        self._enqueued(NewJob(type=TYPE, idempotency_key=key, max_retries=1))

    @rule(worker=workers, most=st.integers(1, 3), seconds=st.sampled_from([5, 60]))
    def claim(self, worker: Principal, most: int, seconds: int) -> None:
        due = self.model.next(self.now)
        jobs = self.workshop.queue.claim_batch(worker, most, lease_seconds=seconds)
        self.leases += jobs
        expires_at = self.now + timedelta(seconds=seconds)
        if due is None:
            self._takes_over(worker, most, jobs, expires_at)
            return
        for job in jobs:
            due = self.model.next(self.now)
            assert due is not None
            assert (job.id, job.retry_count) == (due.id, due.retry_count)
            due.claimed(worker.id, token(job), expires_at)
        assert len(jobs) == most or self.model.next(self.now) is None

    @rule(at=some, caller=workers)
    def complete(self, at: int, caller: Principal) -> None:
        lease = self._lease(at)
        call = partial(self.workshop.queue.complete, caller, lease.id, lease_token=lease.lease_token)
        self._held("complete", lease, caller, call, lambda job: job.completed(self.now))

    @rule(at=some, caller=workers, wait=waits, discard=st.booleans())
    def fail(self, at: int, caller: Principal, wait: int | None, discard: bool) -> None:
        lease, seconds = self._lease(at), None if discard else wait
        call = partial(
            self.workshop.queue.fail,
            caller,
            lease.id,
            lease_token=lease.lease_token,
            retry_in_seconds=seconds,
            discard=discard,
        )
        waiting = timedelta(seconds=seconds or 0)
        self._held(
            f"fail {seconds} {discard}",
            lease,
            caller,
            call,
            lambda job: job.failed(self.now, waiting, discard=discard),
        )

    @rule(at=some, caller=workers, delay=waits)
    def release(self, at: int, caller: Principal, delay: int | None) -> None:
        lease = self._lease(at)
        call = partial(
            self.workshop.queue.release,
            caller,
            lease.id,
            lease_token=lease.lease_token,
            delay_seconds=delay,
        )
        waiting = timedelta(seconds=delay or 0)
        self._held(f"release {delay}", lease, caller, call, lambda job: job.released(self.now, waiting))

    @rule(at=some, caller=workers, seconds=st.sampled_from([5, 60, 600]))
    def extend(self, at: int, caller: Principal, seconds: int) -> None:
        lease = self._lease(at)
        call = partial(
            self.workshop.queue.extend,
            caller,
            lease.id,
            lease_token=lease.lease_token,
            lease_seconds=seconds,
        )
        job = self.model.jobs[lease.id]
        if job.is_held(caller.id, lease.lease_token):
            job.extended(self.now + timedelta(seconds=seconds))
            answer = call()
            assert answer.lease_expires_at == job.lease_expires_at
            assert answer.cancel_requested == job.cancel_requested
        else:
            assert outcome(call) is JobNotHeld

    @rule(at=some, caller=st.sampled_from([OPS, SHOP, STORE]))
    def cancel(self, at: int, caller: Principal) -> None:
        job = self._job(at)
        call = partial(self.workshop.queue.cancel, caller, job.id)
        if not job.is_kept(self.now) or caller is STORE:
            assert outcome(call) is JobNotFound
        elif job.status in {COMPLETED, FAILED}:
            assert outcome(call) is JobNotCancellable
        else:
            job.cancelled(self.now)
            call()

    @rule(at=some)
    def retry(self, at: int) -> None:
        job = self._job(at)
        call = partial(self.workshop.queue.retry, OPS, job.id)
        if not job.is_kept(self.now):
            assert outcome(call) is JobNotFound
        elif job.status not in {FAILED, CANCELLED}:
            assert outcome(call) is JobNotRetryable
        else:
            job.retried(self.now)
            call()

    @rule()
    def rescue(self) -> None:
        self.model.rescued(self.now)
        self.workshop.rescuer.run()

    @rule(seconds=st.sampled_from([1, 10, 70, 70, 8 * DAY]))
    def time_passes(self, seconds: int) -> None:
        self.workshop.clock.advance(seconds)

    @invariant()
    def the_table_agrees(self) -> None:
        items = client().scan(TableName="jobs")["Items"]
        jobs = {job.id: job for job in (read_job(item).job for item in items)}
        assert {job_id: fields_of(job) for job_id, job in jobs.items()} == {
            job_id: fields_of(job) for job_id, job in self.model.jobs.items()
        }
        for item in items:
            assert item["lane"]["S"].split("/")[:2] == ["default", item["status"]["S"]]

    def _enqueued(self, new: NewJob) -> None:
        enqueued = self.workshop.queue.enqueue(SHOP, new)
        known = self.model.jobs.get(enqueued.job.id)
        assert enqueued.created == (known is None or not known.is_kept(self.now))
        if enqueued.created:
            self.model.jobs[enqueued.job.id] = ModelJob(
                id=enqueued.job.id,
                priority=new.priority,
                max_retries=new.max_retries or 0,
                available_at=self.now + timedelta(seconds=new.delay_seconds or 0),
            )

    def _takes_over(self, worker: Principal, most: int, jobs: Sequence[Job], expires_at: datetime) -> None:
        """Check a claim that found nothing waiting."""
        for job in jobs:
            assert job.id in self.model.may_be_taken_over(self.now)
            self.model.jobs[job.id].taken_over(worker.id, token(job), expires_at)
        lost = self.model.may_be_taken_over(self.now)
        assert not lost or len(jobs) == most or self.model.in_vain() >= MOST_IN_VAIN

    def _held(
        self,
        name: str,
        lease: Job,
        caller: Principal,
        call: Callable[[], Job],
        change: Callable[[ModelJob], None],
    ) -> None:
        """Call under a lease, live or not: it counts while the job runs under it, and it counts once."""
        job, done = self.model.jobs[lease.id], (name, caller.id, token(lease))
        if job.is_held(caller.id, lease.lease_token):
            change(job)
            call()
            self.done.add(done)
        elif done in self.done:
            assert outcome(call) in {None, JobNotHeld}  # marks are kept for a while
        else:
            assert outcome(call) in {JobNotHeld, ReplayMismatch}

    def _lease(self, at: int) -> Job:
        """Return one of the leases that were given, the latest first; get one if there is none yet."""
        if not self.leases:
            self.claim(MAILER, 1, 60)
        assume(self.leases)
        return self.leases[-1 - at % len(self.leases)]

    def _job(self, at: int) -> ModelJob:
        jobs = list(self.model.jobs.values())
        return jobs[-1 - at % len(jobs)]


def outcome(call: Callable[[], object]) -> type[JobQueueError] | None:
    """Return the class of what a call raises, or None."""
    try:
        call()
    except JobQueueError as error:
        return type(error)
    return None


def token(job: Job) -> str:
    assert job.lease_token is not None
    return job.lease_token


def fields_of(job: Job | ModelJob) -> dict[str, Any]:
    """Return what the model knows of a job."""
    return {name: getattr(job, name) for name in COMPARED}


COMPARED = [field.name for field in fields(ModelJob) if field.name != "was_extended"]

QueueMachine.TestCase.settings = settings(
    max_examples=25 * LONGER,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestQueueAgainstItsModel = QueueMachine.TestCase
