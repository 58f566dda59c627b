"""A worker keeps the leases of what it runs, and lets a handler see when it should stop."""

from __future__ import annotations

import itertools
import threading
from datetime import timedelta
from typing import Any

import pytest

from jobqueue.errors import CorruptItem, InvalidRequest
from jobqueue.job import Job, JobStatus
from jobqueue.queue import Lease
from jobqueue.worker import Cancelled, LeaseLost, Run
from jobqueue.worker.attempt import Attempt, Outcome, Tools
from jobqueue.worker.leases import LONGEST_PAUSE, LeaseTimer
from tests.support.log import log_lines
from tests.support.payloads import Note
from tests.support.shifts import WORK_JOBS, Site
from tests.support.workshop import LEASE_SECONDS, OPS, Workshop


class Held:
    """A job in the hands of a worker whose two clocks a test moves together."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.seconds = 100.0
        workshop.enqueue()
        self.job = workshop.claim(WORK_JOBS)
        tools = Tools(
            queue=workshop.queue,
            caller=WORK_JOBS,
            stopping=threading.Event(),
            monotonic=lambda: self.seconds,
            sleep=lambda _: None,
        )
        self.attempt = Attempt(
            self.job,
            None,
            tools,
            lease_seconds=LEASE_SECONDS,
            claimed_at=self.seconds,
            on_end=lambda *_: None,
        )

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds
        self.workshop.clock.advance(seconds)

    def left(self) -> float:
        """Return for how many seconds the table says that the job is held."""
        expires_at = self.workshop.get(self.job.id).lease_expires_at
        assert expires_at is not None
        return (expires_at - self.workshop.clock.now) / timedelta(seconds=1)


@pytest.fixture
def held(workshop: Workshop) -> Held:
    return Held(workshop)


def test_a_lease_is_extended_before_a_third_of_it_is_over(held: Held) -> None:
    for _ in range(20):
        held.pass_time(held.attempt.beat())
        assert held.left() > LEASE_SECONDS * 2 / 3 - 1
    assert not held.attempt.run.lost.is_set()


def test_an_extension_costs_nothing_before_it_is_due(held: Held) -> None:
    with held.workshop.calls() as calls:
        assert held.attempt.beat() == LONGEST_PAUSE
    assert calls == {}


def test_an_extension_that_fails_is_tried_again_soon(held: Held) -> None:
    held.pass_time(LONGEST_PAUSE)
    with held.workshop.down("UpdateItem"):
        assert held.attempt.beat() == 1.0
    held.pass_time(1.0)
    held.attempt.beat()
    assert held.left() == LEASE_SECONDS


def test_a_lease_that_ran_out_unextended_is_lost(held: Held) -> None:
    with held.workshop.down("UpdateItem"):
        held.pass_time(LEASE_SECONDS - 1)
        held.attempt.beat()
        assert not held.attempt.run.lost.is_set()
        held.pass_time(1)
        held.attempt.beat()
    assert held.attempt.run.lost.is_set()
    with pytest.raises(LeaseLost):
        held.attempt.run.check()


def test_an_extension_that_breaks_is_told_and_tried_again(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Lease:
        raise CorruptItem

    with monkeypatch.context() as patch, log_lines() as lines:
        patch.setattr(held.workshop.queue, "extend", broken)
        held.pass_time(LONGEST_PAUSE)
        assert held.attempt.beat() == 1.0
    assert [line["error_class"] for line in lines] == ["CorruptItem"]
    held.pass_time(1.0)
    held.attempt.beat()
    assert held.left() == LEASE_SECONDS


def test_a_lease_whose_extensions_break_is_lost_in_the_end(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Lease:
        raise CorruptItem

    monkeypatch.setattr(held.workshop.queue, "extend", broken)
    held.pass_time(LEASE_SECONDS)
    held.attempt.beat()
    assert held.attempt.run.lost.is_set()


def test_a_job_that_another_holds_is_lost(held: Held) -> None:
    held.pass_time(LEASE_SECONDS + 5)  # frozen
    held.workshop.claim(WORK_JOBS)
    held.attempt.beat()
    assert held.attempt.run.lost.is_set()


def test_a_request_to_cancel_is_seen(held: Held) -> None:
    held.workshop.queue.cancel(OPS, held.job.id)
    assert not held.attempt.run.cancelled.is_set()
    held.pass_time(LONGEST_PAUSE)
    held.attempt.beat()
    assert held.attempt.run.cancelled.is_set()
    with pytest.raises(Cancelled):
        held.attempt.run.check()


def test_a_handler_that_may_go_on_goes_on(held: Held) -> None:
    held.attempt.run.check()


def test_progress_is_stored_and_extends_the_lease(held: Held) -> None:
    held.pass_time(10)
    held.attempt.run.progress({"percent": 40})
    assert held.workshop.get(held.job.id).progress == {"percent": 40}
    assert held.left() == LEASE_SECONDS


def test_progress_that_cannot_be_told_stops_nobody(held: Held) -> None:
    with held.workshop.down("UpdateItem"):
        held.attempt.run.progress({"percent": 40})


def test_progress_that_is_too_long_is_the_handlers_error(held: Held) -> None:
    with pytest.raises(InvalidRequest):
        held.attempt.run.progress("x" * 1025)


@pytest.mark.parametrize("seconds", [5, 60, 43_200])
def test_no_lease_goes_long_without_a_look(seconds: int) -> None:
    timer = LeaseTimer(seconds, 0.0)
    assert 0 < timer.pause(0.0) <= min(seconds / 3, LONGEST_PAUSE)


def test_a_handler_that_stops_for_a_cancel_ends_its_job_as_cancelled(workshop: Workshop) -> None:
    def handle(job: Job, payload: Note, run: Run) -> None:
        workshop.queue.cancel(OPS, job.id)
        run.progress(1)  # which is when it learns of it
        run.check()

    job = workshop.enqueue()
    assert Site(workshop, handle).work() == {Outcome.CANCELLED: 1}
    assert workshop.get(job.id).status is JobStatus.CANCELLED


def test_a_handler_that_finishes_in_spite_of_a_cancel_has_completed(workshop: Workshop) -> None:
    def handle(job: Job, payload: Note) -> str:
        workshop.queue.cancel(OPS, job.id)
        return "too late"

    job = workshop.enqueue()
    assert Site(workshop, handle).work() == {Outcome.COMPLETED: 1}
    assert workshop.get(job.id).result == "too late"


def test_a_handler_that_stops_for_a_lost_lease_reports_nothing(workshop: Workshop) -> None:
    def handle(job: Job, payload: Note, run: Run) -> None:
        workshop.queue.release(WORK_JOBS, job.id, lease_token=job.lease_token, delay_seconds=60)
        run.progress(1)
        run.check()

    job = workshop.enqueue()
    assert Site(workshop, handle).work() == {Outcome.LOST: 1}
    assert workshop.get(job.id).errors == ()


def test_leases_are_extended_while_handlers_run(workshop: Workshop) -> None:
    extended = threading.Event()
    real_extend = workshop.queue.extend

    def handle(job: Job, payload: Note) -> None:
        assert extended.wait(30)

    def extend(*arguments: Any, **options: Any) -> Lease:
        lease = real_extend(*arguments, **options)
        extended.set()
        return lease

    workshop.enqueue()
    site, seconds = Site(workshop, handle), itertools.count(0, 16)
    site.with_time(sleep=lambda _: None, monotonic=lambda: float(next(seconds)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop.queue, "extend", extend)
        assert site.work() == {Outcome.COMPLETED: 1}
