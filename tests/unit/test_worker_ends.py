"""What becomes of a job by what its handler returns or raises, and how that is reported."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from jobqueue.errors import JobNotHeld
from jobqueue.job import Job, JobStatus
from jobqueue.jobtype import JobType, JobTypes
from jobqueue.queue import JobQueue
from jobqueue.worker import Discard, RetryLater, Snooze
from jobqueue.worker.attempt import Outcome
from tests.support.callers import worker
from tests.support.payloads import Note
from tests.support.shifts import WORK_JOBS, Site
from tests.support.workshop import NOTE, Workshop


def test_a_result_is_stored(workshop: Workshop) -> None:
    def double(job: Job, payload: Note) -> dict[str, Any]:
        return {"doubled": 2 * job.payload["n"]}

    job = workshop.enqueue(payload={"n": 21})
    assert Site(workshop, double).work() == {Outcome.COMPLETED: 1}
    done = workshop.get(job.id)
    assert (done.status, done.result) == (JobStatus.COMPLETED, {"doubled": 42})
    assert done.worker_id == "internal:work_jobs"


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
