"""A shift of the worker function: which jobs it takes, for how long, and when it goes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.jobtype import JobType, JobTypes, Policy
from jobqueue.worker import Run, Snooze
from jobqueue.worker.attempt import Outcome
from tests.support.payloads import Note
from tests.support.shifts import MINUTES, WORK_JOBS, Gate, Site, eventually
from tests.support.workshop import NOTE, Workshop


def is_over(job: Job) -> bool:
    """Tell whether the handler's thread has ended; it must have begun."""
    return all(thread.name != job.id for thread in threading.enumerate())


def test_a_handler_gets_the_payload_as_its_types_model(workshop: Workshop) -> None:
    seen: list[Any] = []

    def look(job: Job, payload: Note) -> None:
        seen.append(payload)

    workshop.enqueue(payload={"n": 21})
    Site(workshop, look).work()
    assert isinstance(seen[0], Note)


def test_jobs_are_taken_until_none_is_left(workshop: Workshop) -> None:
    jobs = [workshop.enqueue() for _ in range(7)]
    site = Site(workshop, concurrency=2)
    assert site.work() == {Outcome.COMPLETED: 7}
    assert site.statuses(jobs) == {JobStatus.COMPLETED: 7}


def test_the_most_urgent_is_taken_first(workshop: Workshop) -> None:
    order: list[str] = []

    def note(job: Job, payload: Note) -> None:
        order.append(job.id)

    later, sooner = workshop.enqueue(), workshop.enqueue(priority=JobPriority.CRITICAL)
    Site(workshop, note, concurrency=1).work()
    assert order == [sooner.id, later.id]


def test_only_the_queues_that_are_worked_are_touched(workshop: Workshop) -> None:
    other = workshop.enqueue(queue="bulk")
    assert Site(workshop).work() == {}
    assert workshop.get(other.id).status is JobStatus.PENDING


def test_no_more_is_claimed_than_starts_at_once(workshop: Workshop) -> None:
    gate, jobs = Gate(), [workshop.enqueue() for _ in range(5)]
    site = Site(workshop, gate.wait, concurrency=2)
    shift = threading.Thread(target=site.work)
    shift.start()
    eventually(lambda: len(gate.arrived) == 2)
    assert site.statuses(jobs) == {JobStatus.RUNNING: 2, JobStatus.PENDING: 3}
    gate.open()
    shift.join()
    assert site.statuses(jobs) == {JobStatus.COMPLETED: 5}


def test_a_job_that_comes_while_others_run_is_started_beside_them(workshop: Workshop) -> None:
    gate, quick = Gate(), threading.Event()

    def handle(job: Job, payload: Note) -> None:
        if job.payload["slow"]:
            gate.wait(job)
        else:
            quick.set()

    workshop.enqueue(payload={"slow": True})
    shift = threading.Thread(target=Site(workshop, handle).work)
    shift.start()
    eventually(lambda: len(gate.arrived) == 1)
    workshop.enqueue(payload={"slow": False})
    eventually(quick.is_set)
    gate.open()
    shift.join()


def test_time_is_short_after_the_fourth_of_ten(workshop: Workshop) -> None:
    done: list[str] = []
    jobs = [workshop.enqueue() for _ in range(10)]
    site = Site(workshop, lambda job: done.append(job.id), concurrency=1)
    outcomes = site.work(lambda: MINUTES if len(done) < 4 else 2.0)
    assert outcomes == {Outcome.COMPLETED: 4}
    assert site.statuses(jobs) == {JobStatus.COMPLETED: 4, JobStatus.PENDING: 6}
    assert [workshop.get(job.id).retry_count for job in jobs] == [0] * 10
    assert [workshop.claim().id for _ in range(6)] == [job.id for job in jobs[4:]]


def test_jobs_whose_claim_took_too_long_are_given_back_uncounted(workshop: Workshop) -> None:
    jobs = [workshop.enqueue() for _ in range(10)]
    # plenty of time to begin with, and two seconds once the claim has come back
    site = Site(workshop)
    left = itertools.chain([MINUTES, MINUTES], itertools.repeat(2.0))
    assert site.work(lambda: next(left)) == {Outcome.RELEASED: 10}
    assert site.statuses(jobs) == {JobStatus.PENDING: 10}
    assert [workshop.get(job.id).retry_count for job in jobs] == [0] * 10
    assert workshop.claim().id == jobs[0].id  # its old place


@pytest.mark.parametrize(
    "at_start, left, takes", [(900, 61, True), (900, 60, False), (30, 6.5, True), (30, 6, False)]
)
def test_no_job_is_taken_in_the_last_part_of_the_time(
    workshop: Workshop, at_start: float, left: float, takes: bool
) -> None:
    workshop.enqueue()
    times = itertools.chain([at_start], itertools.repeat(left))
    assert Site(workshop).work(lambda: next(times)) == ({Outcome.COMPLETED: 1} if takes else {})


def test_a_handler_that_outlives_the_function_is_left_to_its_lease(workshop: Workshop) -> None:
    gate = Gate()
    hanging, beside = workshop.enqueue(payload={"hang": True}), workshop.enqueue(payload={"hang": False})

    def handle(job: Job, payload: Note) -> None:
        if job.payload["hang"]:
            gate.wait(job)
        begun.append(job.id)

    def remaining() -> float:
        return 1.0 if beside.id in begun and is_over(beside) and gate.arrived else MINUTES

    begun: list[str] = []
    site = Site(workshop, handle)
    assert site.work(remaining) == {Outcome.COMPLETED: 1, Outcome.ABANDONED: 1}
    assert workshop.get(hanging.id).status is JobStatus.RUNNING
    workshop.lose_lease()
    workshop.rescuer.run()
    assert workshop.get(hanging.id).retry_count == 1
    gate.open()


def test_a_handler_that_was_thawed_cannot_finish_what_another_holds(workshop: Workshop) -> None:
    gate, job = Gate(), workshop.enqueue()
    site = Site(workshop, gate.wait)
    assert site.work(lambda: 1.0 if gate.arrived else MINUTES) == {Outcome.ABANDONED: 1}
    workshop.lose_lease()
    held = workshop.claim(WORK_JOBS)  # by the same function, in another process
    with workshop.calls() as calls:
        gate.open()
        eventually(lambda: calls["UpdateItem"] > 0)
        eventually(lambda: is_over(job))
    now = workshop.get(job.id)
    assert (now.status, now.lease_token) == (JobStatus.RUNNING, held.lease_token)


def test_a_handler_that_stops_in_time_gives_its_job_back_uncounted(workshop: Workshop) -> None:
    started = threading.Event()

    def patient(job: Job, payload: Note, run: Run) -> None:
        started.set()
        assert run.stopping.wait(30)
        raise Snooze(0)

    job = workshop.enqueue()
    # time runs short while it works, but is not over
    assert Site(workshop, patient).work(lambda: 4.0 if started.is_set() else MINUTES) == {Outcome.RELEASED: 1}
    now = workshop.get(job.id)
    assert (now.status, now.retry_count, now.available_at) == (JobStatus.PENDING, 0, job.available_at)


def test_a_job_that_the_index_does_not_show_yet_is_looked_for(workshop: Workshop) -> None:
    job = workshop.enqueue()
    site, now = Site(workshop), [0.0]
    site.with_time(sleep=lambda seconds: now.append(now[-1] + seconds), monotonic=lambda: now[-1])
    looks = itertools.count()
    lagging = workshop.queue.claim_batch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            workshop.queue,
            "claim_batch",
            lambda *arguments, **options: () if next(looks) < 3 else lagging(*arguments, **options),
        )
        assert site.work(promised=[job.id]) == {Outcome.COMPLETED: 1}
    assert now == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_a_promise_is_given_up_after_two_seconds(workshop: Workshop) -> None:
    job = workshop.enqueue()
    site, now = Site(workshop), [0.0]
    site.with_time(sleep=lambda seconds: now.append(now[-1] + seconds), monotonic=lambda: now[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop.queue, "claim_batch", lambda *_, **__: ())
        assert site.work(promised=[job.id]) == {}
    assert 2.0 <= now[-1] <= 2.2


def test_a_promise_that_another_kept_is_not_waited_for(workshop: Workshop) -> None:
    taken = workshop.running()
    site = Site(workshop)
    assert site.work(promised=[taken.id, "job_00000000000000000000000000"]) == {}
    assert site.sleeps == []


def test_a_busy_table_ends_the_shift_normally(workshop: Workshop) -> None:
    job = workshop.enqueue()
    with workshop.down("Query"):
        assert Site(workshop).work() == {}
    assert workshop.get(job.id).status is JobStatus.PENDING


@contextmanager
def refused(workshop: Workshop, when: Callable[[], bool]) -> Iterator[None]:
    """Let DynamoDB refuse the function's queries, from `when` on."""

    def refuse(**_: Any) -> None:
        if when():
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Query")

    events = workshop.client.meta.events
    events.register("before-call.dynamodb.Query", refuse)
    try:
        yield
    finally:
        events.unregister("before-call.dynamodb.Query", refuse)


def test_a_function_without_permission_fails_loudly(workshop: Workshop) -> None:
    with refused(workshop, lambda: True), pytest.raises(ClientError):
        Site(workshop).work()


def test_what_runs_is_waited_for_though_claiming_fails(workshop: Workshop) -> None:
    gate, job = Gate(), workshop.enqueue()

    def once_it_runs() -> bool:
        if gate.arrived:
            gate.open()
        return bool(gate.arrived)

    with refused(workshop, once_it_runs), pytest.raises(ClientError):
        Site(workshop, gate.wait).work()
    assert workshop.get(job.id).status is JobStatus.COMPLETED


def test_a_backlog_is_told_once(workshop: Workshop) -> None:
    for _ in range(7):
        workshop.enqueue()
    told: list[str] = []
    Site(workshop, concurrency=2).work(on_backlog=lambda: told.append("backlog"))
    assert told == ["backlog"]


def test_there_is_no_backlog_while_slots_are_free(workshop: Workshop) -> None:
    workshop.enqueue()
    told: list[str] = []
    Site(workshop, concurrency=2).work(on_backlog=lambda: told.append("backlog"))
    assert told == []


def test_a_worker_whose_turn_is_over_takes_no_job(workshop: Workshop) -> None:
    workshop.enqueue()
    assert Site(workshop).work(claim_seconds=0) == {}


def test_an_expired_lease_is_taken_over_when_nothing_waits(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    assert Site(workshop).work() == {Outcome.COMPLETED: 1}
    assert workshop.get(job.id).retry_count == 1


def test_leases_are_as_long_as_the_type_says(workshop: Workshop) -> None:
    types = JobTypes([JobType(name="note", payload=NOTE, policy=Policy(lease_seconds=7))])
    workshop.deploy(types)
    seen: list[float] = []

    def look(job: Job, payload: Note) -> None:
        assert job.lease_expires_at is not None
        seen.append((job.lease_expires_at - workshop.clock.now).total_seconds())

    workshop.enqueue()
    Site(workshop, look, job_types=types).work()
    assert seen == [7]
