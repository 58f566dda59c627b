"""Recording that an attempt failed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.errors import InvalidRequest, JobNotHeld, ReplayMismatch, Unavailable
from jobqueue.job import JobFailure, JobStatus
from tests.support.clock import START
from tests.support.workshop import BACKOFF, MAILER, OPS, PRINTER, Workshop

SECOND = timedelta(seconds=1)
NOW = "2026-11-30T02:26:02.123456Z"
HELD_ONLY = {"worker_id", "claimed_at", "lease_token", "lease_expires_at", "lane_done"}
NO_ROUTE = {"error": "no route", "failed_at": NOW, "worker_id": "key:mailer"}


def test_what_a_failure_writes_that_is_retried(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, progress=50)
    before = workshop.item(job.id)
    failed = workshop.queue.fail(
        MAILER, job.id, lease_token=job.lease_token, error="no route", retry_in_seconds=90
    )
    item = workshop.item(job.id)
    (mark,) = item.pop("marks")
    assert mark.startswith("fail:token-1:")
    kept = {name: before[name] for name in before.keys() - HELD_ONLY - {"progress"}}
    assert item == kept | {
        "status": "pending",
        "lane": "default/pending/0/0",
        "lane_order": f"2026-11-30T02:27:32.123456Z#{job.id}",
        "available_at": "2026-11-30T02:27:32.123456Z",
        "retry_count": 1,
        "error": "no route",
        "errors": [NO_ROUTE],
        "rev": 2,
    }
    assert failed == workshop.get(job.id)


def test_what_a_failure_writes_that_is_the_last(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    before = workshop.item(job.id)
    failed = workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token, error="no route")
    item = workshop.item(job.id)
    assert before.pop("lease_expires_at")
    assert len(item.pop("marks")) == 1
    assert item == before | {
        "status": "failed",
        "lane": "default/failed/0",
        "lane_order": f"{NOW}#{job.id}",
        "finished_at": NOW,
        "expires_at": 1_796_610_363,
        "error": "no route",
        "errors": [NO_ROUTE],
        "rev": 2,
    }
    assert failed == workshop.get(job.id)
    assert (failed.retry_count, failed.worker_id) == (0, "key:mailer")


@pytest.mark.parametrize("max_retries", [0, 1, 3])
def test_n_retries_are_n_plus_one_attempts(max_retries: int, workshop: Workshop) -> None:
    job = workshop.enqueue(type="eager", max_retries=max_retries)
    attempts = 0
    while (claimed := workshop.queue.claim(MAILER)) is not None:
        attempts += 1
        workshop.queue.fail(MAILER, claimed.id, error=f"attempt {attempts}")
    ended = workshop.get(job.id)
    assert attempts == max_retries + 1
    assert (ended.status, ended.retry_count) == (JobStatus.FAILED, max_retries)
    assert [failure.error for failure in ended.errors] == [f"attempt {n + 1}" for n in range(attempts)]


def test_a_retry_waits_by_the_backoff_of_the_deployment(workshop: Workshop) -> None:
    job = workshop.enqueue(max_retries=100)
    waits = []
    for retry_count in range(12):
        workshop.clock.now = workshop.get(job.id).available_at
        workshop.claim()
        failed = workshop.queue.fail(MAILER, job.id)
        waits.append(failed.available_at - workshop.clock.now)
        longest = min(BACKOFF.cap_seconds, BACKOFF.base_seconds * 2**retry_count)
        assert timedelta(milliseconds=1) <= waits[-1] <= longest * SECOND
        assert workshop.queue.claim(MAILER) is None
    assert len(set(waits)) == len(waits)
    assert max(waits) > 60 * SECOND


def test_no_count_overflows_the_backoff(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.spoil(job.id, retry_count=2000, max_retries=5000)
    failed = workshop.queue.fail(MAILER, job.id)
    assert START < failed.available_at <= START + BACKOFF.cap_seconds * SECOND
    assert failed.retry_count == 2001


def test_a_type_may_retry_at_once(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.fail(MAILER, job.id)
    assert workshop.claim(PRINTER).retry_count == 1


def test_a_discarded_job_is_not_retried(workshop: Workshop) -> None:
    job = workshop.running()
    failed = workshop.queue.fail(MAILER, job.id, error="gone for good", discard=True)
    assert (failed.status, failed.retry_count) == (JobStatus.FAILED, 0)


@pytest.mark.parametrize("seconds", [0, 60])
def test_discarding_excludes_a_wait(seconds: float, workshop: Workshop) -> None:
    job = workshop.running()
    with pytest.raises(InvalidRequest):
        workshop.queue.fail(MAILER, job.id, discard=True, retry_in_seconds=seconds)
    assert workshop.get(job.id).status is JobStatus.RUNNING


@pytest.mark.parametrize("error", [None, "", " \n", "\x00\x1b[0m"])
def test_a_failure_always_has_a_message(error: str | None, workshop: Workshop) -> None:
    job = workshop.running()
    assert workshop.queue.fail(MAILER, job.id, error=error).error == "failed without a message"


def test_a_message_is_cleaned_before_it_is_stored(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.fail(MAILER, job.id, error="postgres://u:CANARY@h refused " + "ä" * 2000)
    stored = workshop.item(job.id)
    assert "CANARY" not in str(stored)
    assert len(stored["error"].encode()) <= 1024


def test_the_last_five_failures_are_kept(workshop: Workshop) -> None:
    job = workshop.enqueue(type="eager", max_retries=10)
    for number in range(7):
        workshop.clock.advance(1)
        workshop.claim()
        workshop.queue.fail(MAILER, job.id, error=f"error {number}")
    found = workshop.get(job.id)
    assert found.error == "error 6"
    assert found.errors == tuple(
        JobFailure(error=f"error {number}", failed_at=START + (number + 1) * SECOND, worker_id="key:mailer")
        for number in range(2, 7)
    )


def test_an_error_stays_until_the_job_ends(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.fail(MAILER, job.id, error="no route")
    assert workshop.claim().error == "no route"
    assert workshop.queue.complete(MAILER, job.id).errors[0].error == "no route"


def test_a_failure_ends_what_was_asked_to_be_cancelled(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    failed = workshop.queue.fail(MAILER, job.id, error="stopped")
    assert (failed.status, failed.error, failed.retry_count) == (JobStatus.CANCELLED, "stopped", 0)
    assert workshop.item(job.id)["lane"] == "default/cancelled/0"


def test_a_cancel_request_in_between_is_honoured(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.just_before("UpdateItem", lambda: workshop.queue.cancel(OPS, job.id)):
        failed = workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token)
    assert failed.status is JobStatus.CANCELLED


def test_a_job_that_never_stands_still_is_given_up(workshop: Workshop) -> None:
    job = workshop.running()
    revs = iter(range(100, 110))

    def change() -> None:
        workshop.spoil(job.id, rev=next(revs))

    with workshop.just_before("UpdateItem", *[change] * 10), pytest.raises(Unavailable):
        workshop.queue.fail(MAILER, job.id)
    assert workshop.queue.fail(MAILER, job.id).status is JobStatus.PENDING


@pytest.mark.parametrize("call", ["complete", "fail", "release"])
def test_who_lost_the_lease_in_between_is_told_so(call: str, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    operate: Any = getattr(workshop.queue, call)
    with (
        workshop.just_before("UpdateItem", lambda: workshop.claim(PRINTER)),
        pytest.raises(JobNotHeld),
    ):
        operate(MAILER, job.id, lease_token=job.lease_token)
    assert workshop.get(job.id).worker_id == "key:printer"


def test_a_job_that_is_gone_in_between_is_not_made_again(workshop: Workshop) -> None:
    job = workshop.running()

    def delete() -> None:
        workshop.client.delete_item(TableName="jobs", Key={"id": {"S": job.id}})

    with workshop.just_before("UpdateItem", delete), pytest.raises(JobNotHeld):
        workshop.queue.fail(MAILER, job.id)
    assert workshop.ids() == set()


@pytest.mark.parametrize("max_retries, status", [(3, JobStatus.PENDING), (0, JobStatus.FAILED)])
def test_a_repeated_call_gets_the_first_answer(
    max_retries: int, status: JobStatus, workshop: Workshop
) -> None:
    job = workshop.running(max_retries=max_retries)
    body: dict[str, Any] = {"lease_token": job.lease_token, "error": "no route"}
    first = workshop.queue.fail(MAILER, job.id, **body)
    assert first.status is status
    workshop.clock.advance(1)
    assert workshop.queue.fail(MAILER, job.id, **body) == first
    for other in ({"error": "another"}, {"retry_in_seconds": 1}, {"discard": True}):
        with pytest.raises(ReplayMismatch):
            workshop.queue.fail(MAILER, job.id, **body | other)
    assert workshop.get(job.id) == first


def test_a_repeated_call_is_recognised_though_the_job_went_on(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token)
    again = workshop.claim(PRINTER)
    found = workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token)
    assert (found.status, found.worker_id, found.retry_count) == (JobStatus.RUNNING, "key:printer", 1)
    done = workshop.queue.complete(PRINTER, job.id, lease_token=again.lease_token)
    assert workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token) == done


def test_a_lost_reply_is_no_second_failure(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.lost_reply("UpdateItem"):
        failed = workshop.queue.fail(MAILER, job.id, error="no route")
    assert (failed.status, failed.retry_count, len(failed.errors)) == (JobStatus.PENDING, 1, 1)
