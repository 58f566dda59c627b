"""Finishing a job."""

from __future__ import annotations

from typing import Any

import pytest

from jobqueue.errors import InvalidRequest, JobNotHeld, ReplayMismatch, Unavailable
from jobqueue.job import JobStatus
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.lanes import shard_of
from tests.support.workshop import MAILER, NOTE, OPS, PRINTER, RETENTION, Workshop

LATER = "2026-11-30T02:26:12.123456Z"
RESULT = {"sent": True, "at": [1, 2.5, None]}


def test_what_completing_writes(workshop: Workshop) -> None:
    job = workshop.running()
    before = workshop.item(job.id)
    workshop.clock.advance(10)
    done = workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token, result=RESULT)
    item = workshop.item(job.id)
    assert before.pop("lease_expires_at")
    (mark,) = item.pop("marks")
    assert mark.startswith("complete:token-1:")
    assert item == before | {
        "status": "completed",
        "lane": "default/completed/0",
        "lane_order": f"{LATER}#{job.id}",
        "finished_at": LATER,
        "updated_at": LATER,
        "expires_at": 1_796_610_373,  # seven days after the next whole second
        "result": '{"sent":true,"at":[1,2.5,null]}',
        "rev": 2,
    }
    assert done == workshop.get(job.id)
    assert (done.worker_id, done.lease_token, done.result) == ("key:mailer", "token-1", RESULT)


@pytest.mark.parametrize("result", [0, False, "", [], {}, "x" * 5000, {"a": "\U0001f600"}])
def test_any_json_is_a_result(result: Any, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.complete(MAILER, job.id, result=result)
    assert workshop.get(job.id).result == result


def test_keys_of_several_kinds_are_text_in_the_result(workshop: Workshop) -> None:
    job = workshop.running()
    for _ in range(2):
        workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token, result={1: "a", "b": 2, None: 3})
    assert workshop.get(job.id).result == {"1": "a", "b": 2, "null": 3}


def test_a_job_may_have_no_result(workshop: Workshop) -> None:
    job = workshop.running()
    assert workshop.queue.complete(MAILER, job.id).result is None
    assert "result" not in workshop.item(job.id)


@pytest.mark.parametrize(
    "result, code",
    [("x" * 65_535, "too_long"), ("\ud83d", "invalid_unicode"), (float("nan"), "not_json")],
    ids=["too_long", "invalid_unicode", "not_json"],
)
def test_a_result_that_cannot_be_kept_is_refused(result: Any, code: str, workshop: Workshop) -> None:
    job = workshop.running()
    before = workshop.item(job.id)
    with pytest.raises(InvalidRequest) as refused:
        workshop.queue.complete(MAILER, job.id, result=result)
    assert [(error.field, error.code) for error in refused.value.errors] == [("result", code)]
    assert workshop.item(job.id) == before


def test_the_largest_result_is_kept(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.complete(MAILER, job.id, result="x" * 65_534)
    assert workshop.get(job.id).result == "x" * 65_534


def test_a_late_call_counts_as_long_as_nobody_else_has_the_job(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.clock.advance(7200)
    done = workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token)
    assert done.status is JobStatus.COMPLETED


def test_without_a_token_it_is_the_lease_under_which_the_caller_holds_the_job(workshop: Workshop) -> None:
    job = workshop.running()
    with pytest.raises(JobNotHeld):
        workshop.queue.complete(PRINTER, job.id)
    assert workshop.queue.complete(MAILER, job.id).lease_token == "token-1"


def test_a_completed_job_is_filed_by_its_shard(workshop: Workshop) -> None:
    workshop.deploy(JobTypes([JobType(name="note", payload=NOTE)], [Queue(name="default", shards=4)]))
    for _ in range(6):
        job = workshop.running()
        workshop.queue.complete(MAILER, job.id)
        assert workshop.item(job.id)["lane"] == f"default/completed/{shard_of(job.id, 4)}"


@pytest.mark.parametrize("token", [True, False])
def test_a_repeated_call_gets_the_first_answer(token: bool, workshop: Workshop) -> None:
    job = workshop.running()
    given = job.lease_token if token else None
    first = workshop.queue.complete(MAILER, job.id, lease_token=given, result=RESULT)
    workshop.clock.advance(30)
    reordered = dict(reversed(RESULT.items()))
    assert workshop.queue.complete(MAILER, job.id, lease_token=given, result=reordered) == first
    assert workshop.item(job.id)["rev"] == 2


@pytest.mark.parametrize("token", [True, False])
def test_a_repeated_call_with_another_result_is_refused(token: bool, workshop: Workshop) -> None:
    job = workshop.running()
    given = job.lease_token if token else None
    workshop.queue.complete(MAILER, job.id, lease_token=given, result=RESULT)
    before = workshop.item(job.id)
    for other in (None, {}, {"sent": False}):
        with pytest.raises(ReplayMismatch):
            workshop.queue.complete(MAILER, job.id, lease_token=given, result=other)
    assert workshop.item(job.id) == before


def test_a_lost_reply_is_no_conflict(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.lost_reply("UpdateItem"):
        done = workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token, result=RESULT)
    assert (done.status, done.result) == (JobStatus.COMPLETED, RESULT)
    assert workshop.item(job.id)["rev"] == 2


def test_a_table_out_of_reach_is_told_and_the_call_may_be_repeated(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.down("UpdateItem"), pytest.raises(Unavailable):
        workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token)
    assert workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token).status.is_finished


def test_a_late_heartbeat_does_not_touch_what_is_completed(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.complete(MAILER, job.id)
    before = workshop.item(job.id)
    for progress in (None, 50):
        with pytest.raises(JobNotHeld):
            workshop.queue.extend(
                MAILER, job.id, lease_token=job.lease_token, lease_seconds=60, progress=progress
            )
    assert workshop.item(job.id) == before


def test_who_was_asked_to_cancel_may_still_complete(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    assert workshop.queue.complete(MAILER, job.id).status is JobStatus.COMPLETED


def test_a_job_that_is_past_its_retention_is_absent(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.complete(MAILER, job.id)
    workshop.clock.advance(RETENTION.total_seconds() + 2)
    for operation in (workshop.queue.complete, workshop.queue.fail, workshop.queue.release):
        with pytest.raises(JobNotHeld):
            operation(MAILER, job.id)
