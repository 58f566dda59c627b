"""Giving a job back unfinished."""

from __future__ import annotations

import pytest

from jobqueue.errors import ReplayMismatch
from jobqueue.job import JobStatus
from tests.support.workshop import MAILER, OPS, PRINTER, Workshop

HELD_ONLY = {"worker_id", "claimed_at", "lease_token", "lease_expires_at", "lane_done", "progress"}


def test_what_a_release_writes(workshop: Workshop) -> None:
    enqueued = workshop.enqueue(delay_seconds=5)
    waiting = workshop.item(enqueued.id)
    workshop.clock.advance(10)
    job = workshop.claim()
    workshop.queue.extend(MAILER, job.id, progress=50)
    released = workshop.queue.release(MAILER, job.id, lease_token=job.lease_token)
    item = workshop.item(job.id)
    (mark,) = item.pop("marks")
    assert mark.startswith("release:token-1:")
    assert item == waiting | {"updated_at": "2026-11-30T02:26:12.123456Z", "rev": 2}
    assert released == workshop.get(job.id)


def test_a_released_job_is_in_its_old_place(workshop: Workshop) -> None:
    first = workshop.enqueue()
    workshop.clock.advance(1)
    second = workshop.enqueue()
    assert workshop.claim().id == first.id
    workshop.clock.advance(60)
    workshop.queue.release(MAILER, first.id)
    assert [workshop.claim().id for _ in range(2)] == [first.id, second.id]


def test_a_released_job_keeps_its_count_and_its_errors(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.fail(MAILER, job.id, error="no route")
    workshop.claim()
    released = workshop.queue.release(MAILER, job.id)
    assert (released.status, released.retry_count) == (JobStatus.PENDING, 1)
    assert (released.error, len(released.errors)) == ("no route", 1)


def test_a_job_without_retries_can_be_released(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    assert workshop.queue.release(MAILER, job.id).status is JobStatus.PENDING


def test_a_job_can_be_put_off(workshop: Workshop) -> None:
    job = workshop.running()
    released = workshop.queue.release(MAILER, job.id, delay_seconds=60)
    assert workshop.item(job.id)["lane_order"] == f"2026-11-30T02:27:02.123456Z#{job.id}"
    workshop.clock.advance(59)
    assert workshop.queue.claim(PRINTER) is None
    workshop.clock.advance(1)
    assert workshop.claim(PRINTER).available_at == released.available_at


def test_a_release_ends_what_was_asked_to_be_cancelled(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    released = workshop.queue.release(MAILER, job.id)
    assert (released.status, released.error) == (JobStatus.CANCELLED, None)
    assert released.finished_at is not None


def test_a_cancel_request_in_between_is_honoured(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.just_before("UpdateItem", lambda: workshop.queue.cancel(OPS, job.id)):
        assert workshop.queue.release(MAILER, job.id).status is JobStatus.CANCELLED


def test_a_repeated_call_gets_the_first_answer(workshop: Workshop) -> None:
    job = workshop.running()
    first = workshop.queue.release(MAILER, job.id, lease_token=job.lease_token, delay_seconds=60)
    workshop.clock.advance(1)
    again = workshop.queue.release(MAILER, job.id, lease_token=job.lease_token, delay_seconds=60)
    assert again == first
    with pytest.raises(ReplayMismatch):
        workshop.queue.release(MAILER, job.id, lease_token=job.lease_token)


def test_a_repeated_call_does_not_take_the_job_from_who_claimed_it_since(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.release(MAILER, job.id, lease_token=job.lease_token)
    workshop.claim(PRINTER)
    workshop.queue.release(MAILER, job.id, lease_token=job.lease_token)
    assert workshop.get(job.id).worker_id == "key:printer"


def test_a_lost_reply_is_no_conflict(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.lost_reply("UpdateItem"):
        assert workshop.queue.release(MAILER, job.id).status is JobStatus.PENDING


def test_the_last_eight_marks_are_kept(workshop: Workshop) -> None:
    enqueued = workshop.enqueue()
    tokens = []
    for _ in range(12):
        job = workshop.claim()
        tokens.append(job.lease_token)
        workshop.queue.release(MAILER, job.id, lease_token=job.lease_token)
    marks = workshop.item(enqueued.id)["marks"]
    assert [mark.split(":")[:2] for mark in marks] == [["release", token] for token in tokens[-8:]]
    assert workshop.queue.release(MAILER, enqueued.id, lease_token=tokens[-8]).status is JobStatus.PENDING
