"""Putting a job in its queue, once for each idempotency key."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobqueue.errors import (
    IdempotencyKeyReused,
    InvalidRequest,
    PriorityNotAllowed,
    QueueNotAllowed,
    Unavailable,
)
from jobqueue.job import JobPriority, JobStatus, is_job_id, keyed_job_id
from jobqueue.queue import NewJob
from tests.support.callers import producer
from tests.support.clock import START
from tests.support.workshop import MAILER, OPS, RETENTION, SHOP, STORE, Workshop

NOW = "2026-11-30T02:26:02.123456Z"
SECOND = timedelta(seconds=1)


def test_what_is_stored_of_a_new_job(workshop: Workshop) -> None:
    new = NewJob(type="note", payload={"text": "Hello"}, priority=JobPriority.HIGH)
    enqueued = workshop.queue.enqueue(SHOP, new, trace_id="1-abc")
    assert enqueued.created
    assert is_job_id(enqueued.job.id)
    assert workshop.item(enqueued.job.id) == {
        "id": enqueued.job.id,
        "type": "note",
        "queue": "default",
        "payload": '{"text":"Hello"}',
        "priority": 20,
        "status": "pending",
        "retry_count": 0,
        "max_retries": 3,
        "available_at": NOW,
        "created_by": "key:shop",
        "created_at": NOW,
        "updated_at": NOW,
        "trace_id": "1-abc",
        "rev": 0,
        "lane": "default/pending/20/0",
        "lane_order": f"{NOW}#{enqueued.job.id}",
    }
    assert workshop.get(enqueued.job.id) == enqueued.job


def test_what_is_stored_of_a_keyed_job_beside(workshop: Workshop) -> None:
    job = workshop.enqueue(idempotency_key="order-1")
    item = workshop.item(job.id)
    assert job.id == keyed_job_id("key:shop", "order-1")
    assert item["idempotency_key"] == "order-1"
    assert item["enqueue_token"].startswith("token-")
    assert len(item["fingerprint"]) == 32


def test_a_job_takes_the_queue_and_the_retries_of_its_type_or_its_own(workshop: Workshop) -> None:
    assert workshop.enqueue(type="patient").max_retries == 1
    own = workshop.enqueue(type="patient", queue="bulk", max_retries=0)
    assert (own.queue, own.max_retries) == ("bulk", 0)
    assert workshop.item(own.id)["lane"] == "bulk/pending/0/0"


@pytest.mark.parametrize(
    "fields, available",
    [
        ({"delay_seconds": 90}, START + 90 * SECOND),
        ({"run_at": START + 90 * SECOND}, START + 90 * SECOND),
        ({"run_at": START - 90 * SECOND}, START),
    ],
)
def test_a_job_may_come_later(fields: dict[str, Any], available: Any, workshop: Workshop) -> None:
    job = workshop.enqueue(**fields)
    assert workshop.get(job.id).available_at == available
    assert workshop.get(job.id).created_at == START


def test_a_payload_is_kept_as_it_is(workshop: Workshop) -> None:
    payload = {"a": 30.4, "b": 0.1, "c": 10**39, "d": int("1" * 39), "e": "\U0001f600", "f": [None, True]}
    payload |= {"long": "x" * 5000}
    job = workshop.enqueue(payload=payload)
    assert workshop.get(job.id).payload == payload
    assert len(workshop.item(job.id)["payload"].value) < 1000


def test_what_breaks_a_rule_is_not_stored(workshop: Workshop) -> None:
    with pytest.raises(InvalidRequest) as refused:
        workshop.enqueue(type="fax", queue="removed", idempotency_key="")
    assert {error.field for error in refused.value.errors} == {"type", "queue", "idempotency_key"}
    assert workshop.ids() == set()


def test_a_queue_needs_a_grant(workshop: Workshop) -> None:
    caller = producer("mill", "bulk")
    with pytest.raises(QueueNotAllowed):
        workshop.enqueue(caller)
    assert workshop.ids() == set()
    assert workshop.enqueue(caller, queue="bulk").queue == "bulk"


@pytest.mark.parametrize("priority", JobPriority)
def test_a_producer_has_a_highest_priority(priority: JobPriority, workshop: Workshop) -> None:
    caller = producer("mill", max_priority=JobPriority.MEDIUM)
    if priority.rank <= JobPriority.MEDIUM.rank:
        assert workshop.enqueue(caller, priority=priority).priority is priority
    else:
        with pytest.raises(PriorityNotAllowed):
            workshop.enqueue(caller, priority=priority)
        assert workshop.ids() == set()


def test_an_admin_has_no_highest_priority(workshop: Workshop) -> None:
    boss = replace(OPS, max_priority=JobPriority.LOW)
    assert workshop.enqueue(boss, priority=JobPriority.CRITICAL).priority is JobPriority.CRITICAL


def test_a_key_makes_one_job(workshop: Workshop) -> None:
    new = NewJob(type="note", payload={"to": "a", "n": 1}, idempotency_key="k", delay_seconds=90)
    first = workshop.queue.enqueue(SHOP, new)
    workshop.clock.advance(5)
    same = NewJob(
        type="note",
        payload={"n": 1, "to": "a"},
        queue="default",
        priority=JobPriority.LOW,
        max_retries=3,
        delay_seconds=90,
        idempotency_key="k",
    )
    again = workshop.queue.enqueue(SHOP, same)
    assert (first.created, again.created) == (True, False)
    assert again.job == first.job
    assert workshop.ids() == {first.job.id}


def test_a_key_finds_the_job_as_it_is_now(workshop: Workshop) -> None:
    job = workshop.running(idempotency_key="k")
    workshop.queue.complete(MAILER, job.id, result={"sent": True})
    found = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key="k"))
    assert not found.created
    assert (found.job.status, found.job.result) == (JobStatus.COMPLETED, {"sent": True})


@pytest.mark.parametrize(
    "other",
    [
        {"payload": {"to": "b"}},
        {"type": "patient"},
        {"queue": "bulk"},
        {"priority": JobPriority.HIGH},
        {"max_retries": 4},
        {"delay_seconds": 91},
        {"delay_seconds": None, "run_at": START + 90 * SECOND},
    ],
)
def test_a_key_is_not_used_for_something_else(other: dict[str, Any], workshop: Workshop) -> None:
    first: dict[str, Any] = {"payload": {"to": "a"}, "delay_seconds": 90, "idempotency_key": "k"}
    job = workshop.enqueue(**first)
    before = workshop.item(job.id)
    with pytest.raises(IdempotencyKeyReused) as refused:
        workshop.enqueue(**first | other)
    assert job.id not in str(refused.value)
    assert workshop.item(job.id) == before
    assert workshop.ids() == {job.id}


def test_keys_of_different_callers_never_meet(workshop: Workshop) -> None:
    pairs = [(SHOP, "k"), (STORE, "k"), (producer("a#b"), "c"), (producer("a"), "b#c")]
    made = [workshop.queue.enqueue(who, NewJob(type="note", idempotency_key=key)) for who, key in pairs]
    assert all(enqueued.created for enqueued in made)
    assert len({enqueued.job.id for enqueued in made}) == 4


@pytest.mark.parametrize("key", [None, "k"])
def test_a_lost_reply_makes_no_second_job_and_no_doubt(key: str | None, workshop: Workshop) -> None:
    with workshop.lost_reply("PutItem"):
        enqueued = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key=key))
    assert enqueued.created
    assert workshop.ids() == {enqueued.job.id}
    assert workshop.get(enqueued.job.id) == enqueued.job


def nothing() -> None:
    """Happen before the first time that a request is sent."""


def test_a_lost_reply_is_recognised_though_the_job_went_on(workshop: Workshop) -> None:
    with workshop.lost_reply("PutItem"), workshop.just_before("PutItem", nothing, workshop.claim):
        enqueued = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key="k"))
    assert enqueued.created
    assert enqueued.job.status is JobStatus.RUNNING


@pytest.mark.parametrize("key", [None, "k"])
def test_a_table_out_of_reach_is_told(key: str | None, workshop: Workshop) -> None:
    with workshop.down("PutItem"), pytest.raises(Unavailable):
        workshop.enqueue(idempotency_key=key)
    assert workshop.ids() == set()


@pytest.mark.parametrize("end", ["complete", "fail", "cancel"])
def test_a_key_lives_as_long_as_its_job_is_kept(end: str, workshop: Workshop) -> None:
    job = workshop.running(idempotency_key="k", payload={"n": 1})
    if end == "complete":
        workshop.queue.complete(MAILER, job.id)
    elif end == "fail":
        workshop.queue.fail(MAILER, job.id, error="no", discard=True)
    else:
        workshop.queue.cancel(OPS, job.id)
        workshop.queue.release(MAILER, job.id)

    workshop.clock.advance(RETENTION.total_seconds())
    with pytest.raises(IdempotencyKeyReused):
        workshop.enqueue(idempotency_key="k", payload={"n": 2})
    workshop.clock.advance(2)
    fresh = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key="k", payload={"n": 2}))

    assert fresh.created
    assert fresh.job.id == job.id
    item = workshop.item(job.id)
    assert (item["rev"], item["status"], item["payload"]) == (0, "pending", '{"n":2}')
    left_over = {"worker_id", "expires_at", "finished_at", "marks", "errors", "error", "result", "lane_done"}
    assert item.keys() & left_over == set()
    assert workshop.claim().payload == {"n": 2}


def test_a_key_of_a_waiting_job_lives_on(workshop: Workshop) -> None:
    job = workshop.enqueue(idempotency_key="k")
    workshop.clock.advance(10 * RETENTION.total_seconds())
    found = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key="k"))
    assert (found.created, found.job.id) == (False, job.id)
