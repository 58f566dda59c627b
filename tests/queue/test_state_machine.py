"""The queue against a model of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from jobqueue.errors import (
    JobNotCancellable,
    JobNotFound,
    JobNotHeld,
    JobNotRetryable,
    JobQueueError,
    ReplayMismatch,
)
from jobqueue.item import read_job
from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.principal import Principal
from jobqueue.queue import NewJob
from jobqueue.takeover import MOST_IN_VAIN
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.queue.conftest import Connect
from tests.queue.model import CANCELLED, COMPLETED, FAILED, Model, ModelJob
from tests.support.office import Office
from tests.support.tables import create_tables
from tests.support.workshop import MAILER, OPS, PRINTER, SHOP, STORE

TYPE = "eager"
"""Knows no backoff, so that there is no chance in it."""

EXAMPLES = 20
DAY = 24 * 3600
LONGER = int(os.environ.get("JOBQUEUE_SOAK", "1"))

priorities = st.sampled_from(JobPriority)
workers = st.sampled_from([MAILER, PRINTER])
waits = st.sampled_from([None, 0, 30])
some = st.integers(0, 30)


class QueueMachine(RuleBasedStateMachine):
    """Does anything in any order, and compares."""

    engine: ClassVar[Any]  # a Connect, which is no method
    """Where the jobs are."""

    def __init__(self) -> None:
        super().__init__()
        self._open = ExitStack()
        self.client = self._open.enter_context(self.engine())
        create_tables(self.client)
        self.office = Office(self.client, ONE_QUEUE)
        self.model = Model()
        self.leases: list[Job] = []
        self.done: set[str] = set()

    def teardown(self) -> None:
        self._open.close()

    @property
    def now(self) -> datetime:
        return self.office.clock.now

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
        jobs = self.office.queue.claim_batch(worker, most, lease_seconds=seconds)
        self.leases += jobs
        expires_at = self.now + timedelta(seconds=seconds)
        if not self.model.hands_out(self.now):
            assert jobs == ()
            return
        if due is None:
            self._takes_over(worker, most, jobs, expires_at)
            return
        for job in jobs:
            due = self.model.next(self.now)
            assert due is not None
            assert (job.id, job.retry_count) == (due.id, due.retry_count)
            due.claimed(worker.id, token(job), expires_at)
        assert len(jobs) == most or self.model.next(self.now) is None

    @rule(at=some, caller=workers, sends=st.booleans())
    def complete(self, at: int, caller: Principal, sends: bool) -> None:
        job_id, sent = self._lease(at, sends)
        self._held(
            partial(self.office.queue.complete, caller, job_id, lease_token=sent),
            lambda job: job.completed(self.now),
        )

    @rule(at=some, caller=workers, sends=st.booleans(), wait=waits, discard=st.booleans())
    def fail(self, at: int, caller: Principal, sends: bool, wait: int | None, discard: bool) -> None:
        job_id, sent = self._lease(at, sends)
        seconds = None if discard else wait
        waiting = timedelta(seconds=seconds or 0)
        fail = partial(self.office.queue.fail, caller, job_id, lease_token=sent)
        self._held(
            partial(fail, retry_in_seconds=seconds, discard=discard),
            lambda job: job.failed(self.now, waiting, discard=discard),
        )

    @rule(at=some, caller=workers, sends=st.booleans(), delay=waits)
    def release(self, at: int, caller: Principal, sends: bool, delay: int | None) -> None:
        job_id, sent = self._lease(at, sends)
        waiting = timedelta(seconds=delay or 0)
        self._held(
            partial(self.office.queue.release, caller, job_id, lease_token=sent, delay_seconds=delay),
            lambda job: job.released(self.now, waiting),
        )

    @rule(
        at=some,
        caller=workers,
        sends=st.booleans(),
        seconds=st.sampled_from([5, 60, 600]),
        progress=st.sampled_from([None, 1, {"done": [2, 3]}]),
    )
    def extend(self, at: int, caller: Principal, sends: bool, seconds: int, progress: Any) -> None:
        job_id, sent = self._lease(at, sends)
        more = {"lease_seconds": seconds, "progress": progress}
        call = partial(self.office.queue.extend, caller, job_id, lease_token=sent, **more)
        job = self.model.jobs[job_id]
        if job.is_held(caller.id, sent or job.token_of(caller.id)):
            job.extended(self.now + timedelta(seconds=seconds), progress)
            answer = call()
            assert answer.lease_expires_at == job.lease_expires_at
            assert answer.cancel_requested == job.cancel_requested
        else:
            assert outcome(call) is JobNotHeld

    @rule(at=some, caller=st.sampled_from([OPS, SHOP, STORE]))
    def cancel(self, at: int, caller: Principal) -> None:
        job = self._job(at)
        call = partial(self.office.queue.cancel, caller, job.id)
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
        call = partial(self.office.queue.retry, OPS, job.id)
        if not job.is_kept(self.now):
            assert outcome(call) is JobNotFound
        elif job.status not in {FAILED, CANCELLED}:
            assert outcome(call) is JobNotRetryable
        else:
            job.retried(self.now)
            call()

    @rule(
        status=st.sampled_from([CANCELLED, FAILED]),
        limit=st.integers(1, 3),
        cancel=st.lists(some, max_size=3),
    )
    def retry_in_bulk(self, status: JobStatus, limit: int, cancel: list[int]) -> None:
        for at in cancel:
            self.cancel(at, OPS)
        jobs = self.model.finished_as(status, self.now)
        answer = self.office.operator.retry_jobs(OPS, "default", status, limit=limit)
        for job in jobs[:limit]:
            job.retried(self.now)
        assert (answer.retried, answer.skipped) == (len(jobs[:limit]), 0)
        assert answer.more is (len(jobs) > limit)

    @rule(paused=st.booleans(), seconds=st.sampled_from([0, 9, 10]), worker=workers)
    def pause_or_resume(self, paused: bool, seconds: int, worker: Principal) -> None:
        self.model.paused = paused
        (self.office.operator.pause if paused else self.office.operator.resume)(OPS, "default")
        self.time_passes(seconds)
        self.claim(worker, 1, 60)

    @rule()
    def rescue(self) -> None:
        self.model.rescued(self.now)
        self.office.rescuer.run()

    @rule(seconds=st.sampled_from([1, 10, 70, 70, 8 * DAY]))
    def time_passes(self, seconds: int) -> None:
        self.office.clock.advance(seconds)

    @invariant()
    def the_table_agrees(self) -> None:
        items = self.client.scan(TableName="jobs")["Items"]
        jobs = {job.id: job for job in (read_job(item).job for item in items)}
        assert {job_id: fields_of(job) for job_id, job in jobs.items()} == {
            job_id: fields_of(job) for job_id, job in self.model.jobs.items()
        }
        for item in items:
            assert item["lane"]["S"].split("/")[:2] == ["default", item["status"]["S"]]

    def _enqueued(self, new: NewJob) -> None:
        enqueued = self.office.queue.enqueue(SHOP, new)
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

    def _held(self, call: partial[Job], change: Callable[[ModelJob], None]) -> None:
        """Call under a lease, live or not: it counts while the job runs under it, and it counts once."""
        caller, job_id = call.args
        job = self.model.jobs[job_id]
        # without a token, the caller means the lease under which it holds the job
        under = call.keywords["lease_token"] or job.token_of(caller.id)
        done = repr((call.func.__name__, caller.id, call.keywords | {"lease_token": under}))
        if job.is_held(caller.id, under):
            change(job)
            call()
            self.done.add(done)
        elif done in self.done:
            assert outcome(call) in {None, JobNotHeld}  # marks are kept for a while
        else:
            assert outcome(call) in {JobNotHeld, ReplayMismatch}

    def _lease(self, at: int, sends: bool) -> tuple[str, str | None]:
        """Return a job and a lease that was given on it, the latest first, or no lease where none is sent."""
        if not self.leases:
            self.claim(MAILER, 1, 60)
        assume(self.leases)
        lease = self.leases[-1 - at % len(self.leases)]
        return lease.id, token(lease) if sends else None

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


def test_the_queue_is_as_its_model(engine: Connect) -> None:
    run_state_machine_as_test(
        type("MachineOfThisEngine", (QueueMachine,), {"engine": staticmethod(engine)}),
        settings=settings(
            max_examples=EXAMPLES * LONGER,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
