"""Cancelling a job that waits, and asking the holder of one that runs."""

from __future__ import annotations

import pytest

from jobqueue.errors import JobNotCancellable, JobNotFound, Unavailable
from jobqueue.job import JobStatus
from tests.support.callers import admin, producer
from tests.support.workshop import MAILER, OPS, PRINTER, SHOP, STORE, Workshop

LATER = "2026-11-30T02:26:12.123456Z"


def test_what_cancelling_a_waiting_job_writes(workshop: Workshop) -> None:
    job = workshop.enqueue(delay_seconds=3600)
    before = workshop.item(job.id)
    workshop.clock.advance(10)
    cancelled = workshop.queue.cancel(SHOP, job.id)
    item = workshop.item(job.id)
    (mark,) = item.pop("marks")
    assert mark.startswith("cancel:token-1:")
    assert item == before | {
        "status": "cancelled",
        "lane": "default/cancelled/0",
        "lane_order": f"{LATER}#{job.id}",
        "finished_at": LATER,
        "updated_at": LATER,
        "expires_at": 1_796_610_373,
        "rev": 1,
    }
    assert cancelled == workshop.get(job.id)


def test_what_asking_the_holder_writes(workshop: Workshop) -> None:
    job = workshop.running()
    before = workshop.item(job.id)
    workshop.clock.advance(10)
    asked = workshop.queue.cancel(SHOP, job.id)
    item = workshop.item(job.id)
    (mark,) = item.pop("marks")
    assert mark.startswith("cancel:token-2:")
    assert item == before | {"cancel_requested": True, "updated_at": LATER, "rev": 2}
    assert asked == workshop.get(job.id)


def test_a_cancelled_job_is_not_claimed(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(SHOP, job.id)
    assert workshop.queue.claim(MAILER) is None


def test_cancelling_twice_is_fine(workshop: Workshop) -> None:
    waiting = workshop.enqueue()
    first = workshop.queue.cancel(SHOP, waiting.id)
    workshop.clock.advance(1)
    assert workshop.queue.cancel(SHOP, waiting.id) == first
    running = workshop.running()
    asked = workshop.queue.cancel(SHOP, running.id)
    assert workshop.queue.cancel(OPS, running.id) == asked
    assert workshop.item(running.id)["rev"] == 2


def test_only_its_producer_and_admins_may_cancel(workshop: Workshop) -> None:
    job = workshop.enqueue(SHOP)
    for other in (STORE, producer("shop2"), producer("shop", "bulk"), admin("ops", "bulk")):
        with pytest.raises(JobNotFound):
            workshop.queue.cancel(other, job.id)
    assert workshop.get(job.id).status is JobStatus.PENDING
    assert workshop.queue.cancel(OPS, job.id).status is JobStatus.CANCELLED


def test_a_job_that_was_claimed_in_between_is_asked(workshop: Workshop) -> None:
    job = workshop.enqueue()
    with workshop.just_before("UpdateItem", workshop.claim):
        cancelled = workshop.queue.cancel(SHOP, job.id)
    assert (cancelled.status, cancelled.cancel_requested) == (JobStatus.RUNNING, True)


def test_a_job_that_was_given_back_in_between_is_cancelled(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.just_before("UpdateItem", lambda: workshop.queue.release(MAILER, job.id)):
        assert workshop.queue.cancel(SHOP, job.id).status is JobStatus.CANCELLED


def test_a_job_that_was_completed_in_between_stays_so(workshop: Workshop) -> None:
    job = workshop.running()
    with (
        workshop.just_before("UpdateItem", lambda: workshop.queue.complete(MAILER, job.id)),
        pytest.raises(JobNotCancellable),
    ):
        workshop.queue.cancel(SHOP, job.id)
    assert workshop.get(job.id).status is JobStatus.COMPLETED


def test_a_job_that_is_gone_in_between_is_not_made_again(workshop: Workshop) -> None:
    job = workshop.enqueue()

    def delete() -> None:
        workshop.client.delete_item(TableName="jobs", Key={"id": {"S": job.id}})

    with workshop.just_before("UpdateItem", delete), pytest.raises(JobNotFound):
        workshop.queue.cancel(SHOP, job.id)
    assert workshop.ids() == set()


def test_a_job_that_never_stands_still_is_given_up(workshop: Workshop) -> None:
    job = workshop.enqueue()

    def go_round() -> None:
        workshop.claim()
        workshop.queue.release(MAILER, job.id)

    with workshop.just_before("UpdateItem", *[go_round] * 10), pytest.raises(Unavailable):
        workshop.queue.cancel(SHOP, job.id)
    assert workshop.queue.cancel(SHOP, job.id).status is JobStatus.CANCELLED


@pytest.mark.parametrize("running", [True, False])
def test_a_lost_reply_is_no_conflict(running: bool, workshop: Workshop) -> None:
    job = workshop.running() if running else workshop.enqueue()
    with workshop.lost_reply("UpdateItem"):
        cancelled = workshop.queue.cancel(SHOP, job.id)
    assert cancelled.cancel_requested == running
    assert workshop.item(job.id)["rev"] == (2 if running else 1)


def test_a_lost_reply_is_recognised_though_the_holder_completed(workshop: Workshop) -> None:
    job = workshop.running()

    def complete() -> None:
        workshop.queue.complete(MAILER, job.id)

    with workshop.lost_reply("UpdateItem"), workshop.just_before("UpdateItem", lambda: None, complete):
        assert workshop.queue.cancel(SHOP, job.id).status is JobStatus.COMPLETED


def test_the_holder_who_was_asked_gives_it_up(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(SHOP, job.id)
    workshop.queue.fail(MAILER, job.id, error="stopped")
    assert workshop.queue.claim(PRINTER) is None
    assert workshop.queue.cancel(SHOP, job.id).status is JobStatus.CANCELLED
