"""Giving a job that failed or was cancelled a new life."""

from __future__ import annotations

import pytest

from jobqueue.errors import JobNotFound, JobNotRetryable, Unavailable
from jobqueue.job import JobStatus
from tests.support.callers import admin
from tests.support.workshop import MAILER, OPS, RETENTION, Workshop

LATER = "2026-11-30T02:26:12.123456Z"
FINISHED_ONLY = {
    *("worker_id", "claimed_at", "lease_token", "lane_done", "progress"),
    *("finished_at", "expires_at", "error"),
}


def test_what_a_retry_writes(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    workshop.queue.extend(MAILER, job.id, progress=50)
    workshop.queue.fail(MAILER, job.id, error="no route")
    before = workshop.item(job.id)
    workshop.clock.advance(10)
    retried = workshop.queue.retry(OPS, job.id)
    item = workshop.item(job.id)
    assert [mark.split(":")[0] for mark in item.pop("marks")] == ["fail", "retry"]
    assert len(before.pop("marks")) == 1
    assert item == {name: value for name, value in before.items() if name not in FINISHED_ONLY} | {
        "status": "pending",
        "lane": "default/pending/0/0",
        "lane_order": f"{LATER}#{job.id}",
        "available_at": LATER,
        "updated_at": LATER,
        "rev": 3,
    }
    assert (retried.error, [failure.error for failure in retried.errors]) == (None, ["no route"])
    assert retried == workshop.get(job.id)


def test_a_retried_job_has_all_its_retries(workshop: Workshop) -> None:
    job = workshop.enqueue(type="eager", max_retries=1)
    for _ in range(2):
        workshop.claim()
        workshop.queue.fail(MAILER, job.id)
    assert workshop.queue.retry(OPS, job.id).retry_count == 0
    for status in (JobStatus.PENDING, JobStatus.FAILED):
        workshop.claim()
        assert workshop.queue.fail(MAILER, job.id).status is status


def test_a_cancelled_job_can_be_retried_and_is_not_cancelled_again(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    workshop.queue.release(MAILER, job.id)
    assert not workshop.queue.retry(OPS, job.id).cancel_requested
    workshop.claim()
    assert workshop.queue.release(MAILER, job.id).status is JobStatus.PENDING


def test_a_retried_job_does_not_expire(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(OPS, job.id)
    workshop.queue.retry(OPS, job.id)
    workshop.clock.advance(2 * RETENTION.total_seconds())
    assert workshop.claim().id == job.id


def test_an_admin_needs_a_grant_for_the_queue(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(OPS, job.id)
    with pytest.raises(JobNotFound):
        workshop.queue.retry(admin("ops", "bulk"), job.id)


def test_what_was_retried_in_between_is_not_retried_again(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(OPS, job.id)
    with (
        workshop.just_before("UpdateItem", lambda: workshop.queue.retry(admin("boss"), job.id)),
        pytest.raises(JobNotRetryable),
    ):
        workshop.queue.retry(OPS, job.id)
    assert workshop.item(job.id)["rev"] == 2


def test_what_went_round_in_between_is_retried_as_it_is_now(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    workshop.queue.fail(MAILER, job.id, error="first")

    def go_round() -> None:
        workshop.queue.retry(admin("boss"), job.id)
        workshop.claim()
        workshop.queue.fail(MAILER, job.id, error="second")

    with workshop.just_before("UpdateItem", go_round):
        retried = workshop.queue.retry(OPS, job.id)
    assert [failure.error for failure in retried.errors] == ["first", "second"]


def test_a_job_that_never_stands_still_is_given_up(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    workshop.queue.fail(MAILER, job.id)

    def go_round() -> None:
        workshop.queue.retry(admin("boss"), job.id)
        workshop.claim()
        workshop.queue.fail(MAILER, job.id)

    with workshop.just_before("UpdateItem", *[go_round] * 10), pytest.raises(Unavailable):
        workshop.queue.retry(OPS, job.id)
    assert workshop.queue.retry(OPS, job.id).status is JobStatus.PENDING


def test_a_lost_reply_is_no_conflict(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(OPS, job.id)
    with workshop.lost_reply("UpdateItem"):
        assert workshop.queue.retry(OPS, job.id).status is JobStatus.PENDING
    assert workshop.item(job.id)["rev"] == 2


def test_a_lost_reply_is_recognised_though_the_job_was_claimed(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.queue.cancel(OPS, job.id)
    with (
        workshop.lost_reply("UpdateItem"),
        workshop.just_before("UpdateItem", lambda: None, workshop.claim),
    ):
        assert workshop.queue.retry(OPS, job.id).status is JobStatus.RUNNING
