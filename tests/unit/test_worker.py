"""A shift of the worker function: which jobs it takes, what becomes of them, and when it goes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from jobqueue.errors import JobNotHeld
from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.jobtype import JobType, JobTypes, Policy
from jobqueue.queue import JobQueue
from jobqueue.worker import Discard, RetryLater, Run, Snooze
from jobqueue.worker.attempt import Outcome
from tests.support.callers import worker
from tests.support.payloads import Note
from tests.support.shifts import MINUTES, WORK_JOBS, Gate, Site, eventually
from tests.support.workshop import NOTE, Workshop


def is_over(job: Job) -> bool:
    """Tell whether the handler's thread has ended; it must have begun."""
    return all(thread.name != job.id for thread in threading.enumerate())


def test_a_result_is_stored(workshop: Workshop) -> None:
    def double(job: Job, payload: Note) -> dict[str, Any]:
        return {"doubled": 2 * job.payload["n"]}

    job = workshop.enqueue(payload={"n": 21})
    assert Site(workshop, double).work() == {Outcome.COMPLETED: 1}
    done = workshop.get(job.id)
    assert (done.status, done.result) == (JobStatus.COMPLETED, {"doubled": 42})
    assert done.worker_id == "internal:work_jobs"


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


# ---------------------------------------------------------------- a part of a batch fails


def test_one_of_ten_raises(workshop: Workshop) -> None:
    def third_raises(job: Job, payload: Note) -> None:
        if job.payload["n"] == 3:
            raise ValueError("no threes")

    jobs = [workshop.enqueue(payload={"n": n}) for n in range(1, 11)]
    site = Site(workshop, third_raises)
    assert site.work() == {Outcome.COMPLETED: 9, Outcome.RETRIED: 1}
    third = workshop.get(jobs[2].id)
    assert (third.status, third.retry_count, third.error) == (JobStatus.PENDING, 1, "ValueError: no threes")
    assert third.available_at > workshop.clock.now
    assert site.statuses(jobs) == {JobStatus.COMPLETED: 9, JobStatus.PENDING: 1}


def test_all_of_ten_raise(workshop: Workshop) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise OSError("disk full")

    jobs = [workshop.enqueue() for _ in range(10)]
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 10}
    assert {workshop.get(job.id).error for job in jobs} == {"OSError: disk full"}
    assert [workshop.get(job.id).retry_count for job in jobs] == [1] * 10


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


# ---------------------------------------------------------------- handlers that misbehave


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), RecursionError()])
def test_nothing_that_a_handler_raises_ends_the_worker(workshop: Workshop, error: BaseException) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise error

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    assert str(workshop.get(job.id).error).startswith(type(error).__name__)


def test_an_error_that_cannot_tell_its_text_is_a_failure_as_any_other(workshop: Workshop) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def raises(job: Job, payload: Note) -> None:
        raise Mute

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    assert str(workshop.get(job.id).error).startswith("Mute: ")


class Unset(RetryLater):
    def __init__(self) -> None:
        Exception.__init__(self, "a delay that is nowhere")


class Blind(Exception):
    def __getattribute__(self, name: str) -> object:
        raise SystemExit


@pytest.mark.parametrize("kind", [Unset, Blind])
def test_an_error_that_cannot_be_looked_at_is_a_failure_as_any_other(
    workshop: Workshop, kind: type[Exception]
) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise kind

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    assert workshop.get(job.id).error == kind.__name__


def test_secrets_in_an_error_are_not_stored(workshop: Workshop) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise ConnectionError("postgres://app:CANARY@db/jobs refused")

    job = workshop.enqueue()
    Site(workshop, raises).work()
    assert "CANARY" not in str(workshop.get(job.id))


def test_discard_fails_without_retry(workshop: Workshop) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise Discard("nobody lives there")

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.FAILED: 1}
    done = workshop.get(job.id)
    assert (done.status, done.error, done.retry_count) == (JobStatus.FAILED, "nobody lives there", 0)


def test_retry_later_sets_the_delay(workshop: Workshop) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise RetryLater(1234, "slow down")

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    retried = workshop.get(job.id)
    assert (retried.available_at - workshop.clock.now).total_seconds() == 1234
    assert (retried.retry_count, retried.error) == (1, "slow down")


@pytest.mark.parametrize("error", [RetryLater(0), Snooze(0)])
def test_a_delay_that_was_changed_to_none_is_the_handlers_error(workshop: Workshop, error: Any) -> None:
    def raises(job: Job, payload: Note) -> None:
        error.seconds = float("inf")
        raise error

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    assert "seconds must be 0 to" in str(workshop.get(job.id).error)


@pytest.mark.parametrize("make", [RetryLater, Snooze])
def test_any_kind_of_number_is_a_delay(workshop: Workshop, make: Any) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise make(Decimal("90.5"))

    job = workshop.enqueue()
    Site(workshop, raises).work()
    delayed = workshop.get(job.id)
    assert (delayed.status, delayed.available_at - workshop.clock.now) == (
        JobStatus.PENDING,
        timedelta(seconds=90.5),
    )


def test_snooze_puts_off_without_counting(workshop: Workshop) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise Snooze(3600)

    job = workshop.enqueue(max_retries=0)
    assert Site(workshop, raises).work() == {Outcome.RELEASED: 1}
    snoozed = workshop.get(job.id)
    assert (snoozed.available_at - workshop.clock.now).total_seconds() == 3600
    assert (snoozed.status, snoozed.retry_count) == (JobStatus.PENDING, 0)


@pytest.mark.parametrize(
    "make", [lambda: RetryLater(-1), lambda: RetryLater(604_801), lambda: Snooze(float("nan"))]
)
def test_a_delay_out_of_range_is_the_handlers_error(workshop: Workshop, make: Any) -> None:
    def raises(job: Job, payload: Note) -> None:
        raise make()

    job = workshop.enqueue()
    assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    assert str(workshop.get(job.id).error).startswith("ValueError: ")


@pytest.mark.parametrize("result", [{1, 2}, float("nan"), "x" * 70_000, "\ud83d"])
def test_a_result_that_cannot_be_stored_is_not_worked_for_again(workshop: Workshop, result: Any) -> None:
    job = workshop.enqueue()
    assert Site(workshop, lambda _: result).work() == {Outcome.FAILED: 1}
    assert str(workshop.get(job.id).error).startswith("result: ")


def test_a_payload_that_fits_its_model_no_longer_is_discarded_by_name(workshop: Workshop) -> None:
    stricter = JobTypes([JobType(name="note", payload="jobtypes.payloads:EmailPayload")])
    job = workshop.enqueue(payload={"to": "nobody", "text": "SECRET"})
    assert Site(workshop, job_types=stricter).work() == {Outcome.FAILED: 1}
    error = str(workshop.get(job.id).error)
    assert "payload.to" in error
    assert "payload.subject" in error
    assert "SECRET" not in error


def test_a_job_without_handler_fails_and_is_tried_again(workshop: Workshop) -> None:
    job = workshop.enqueue(type="eager")
    only_notes = JobTypes([JobType(name="note", payload=NOTE)])
    assert Site(workshop, job_types=only_notes).work() == {Outcome.RETRIED: 1}
    assert str(workshop.get(job.id).error).startswith("NoHandler: ")


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


# ---------------------------------------------------------------- reports


def test_the_end_is_reported_once_dynamodb_answers_again(workshop: Workshop) -> None:
    job, outage = workshop.enqueue(), workshop.down("UpdateItem")

    def handle(job: Job, payload: Note) -> str:
        outage.__enter__()
        return "done"

    site = Site(workshop, handle)
    site.with_time(sleep=lambda _: outage.__exit__(None, None, None))
    assert site.work() == {Outcome.COMPLETED: 1}
    assert workshop.get(job.id).result == "done"


def test_an_end_that_cannot_be_reported_is_left_to_the_lease(workshop: Workshop) -> None:
    job, outage = workshop.enqueue(), workshop.down("UpdateItem")

    def handle(job: Job, payload: Note) -> None:
        outage.__enter__()

    assert Site(workshop, handle).work() == {Outcome.UNREPORTED: 1}
    outage.__exit__(None, None, None)
    assert workshop.get(job.id).status is JobStatus.RUNNING


def test_a_job_that_was_taken_away_is_not_reported(workshop: Workshop) -> None:
    def handle(job: Job, payload: Note) -> None:
        workshop.queue.release(WORK_JOBS, job.id, lease_token=job.lease_token, delay_seconds=60)

    workshop.enqueue()
    assert Site(workshop, handle).work() == {Outcome.LOST: 1}


def test_a_failure_whose_reply_was_lost_is_told_as_what_it_was(workshop: Workshop) -> None:
    taken: list[Job] = []

    def raises(job: Job, payload: Note) -> None:
        raise ValueError

    def fail(*arguments: Any, **options: Any) -> Job:
        JobQueue.fail(workshop.queue, *arguments, **options)
        workshop.clock.advance(3600)
        taken.append(workshop.claim(worker("other")))
        return taken[0]

    workshop.enqueue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop.queue, "fail", fail)
        assert Site(workshop, raises).work() == {Outcome.RETRIED: 1}
    with pytest.raises(JobNotHeld):
        workshop.queue.complete(WORK_JOBS, taken[0].id, lease_token="old")


# ---------------------------------------------------------------- wakes and the table


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
