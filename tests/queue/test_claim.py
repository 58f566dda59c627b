"""Taking a job: which one, and in what order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.errors import InvalidRequest, QueueNotAllowed, Unavailable
from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from tests.support.callers import worker
from tests.support.clock import START
from tests.support.workshop import BACKOFF, MAILER, NOTE, OPS, PRINTER, Workshop, ids

SECOND = timedelta(seconds=1)


def wide(shards: int) -> JobTypes:
    return JobTypes([JobType(name="note", payload=NOTE, queue="wide")], [Queue(name="wide", shards=shards)])


WIDE = JobTypes(
    queues=[Queue(name="wide", shards=4), Queue(name="bulk")],
    types=[JobType(name="note", payload=NOTE, queue="wide")],
)


def drain(workshop: Workshop, **fields: Any) -> list[Job]:
    """Claim until there is none."""
    claimed = []
    while (job := workshop.queue.claim(MAILER, **fields)) is not None:
        claimed.append(job)
    return claimed


def test_what_a_claim_writes(workshop: Workshop) -> None:
    enqueued = workshop.enqueue(priority=JobPriority.HIGH)
    before = workshop.item(enqueued.id)
    workshop.clock.advance(10)
    job = workshop.claim()
    assert workshop.item(job.id) == before | {
        "status": "running",
        "lane": "default/running/0",
        "lane_order": f"2026-11-30T02:27:12.123456Z#{job.id}",
        "lane_done": "default/completed/0",
        "worker_id": "key:mailer",
        "lease_token": "token-1",
        "lease_expires_at": "2026-11-30T02:27:12.123456Z",
        "claimed_at": "2026-11-30T02:26:12.123456Z",
        "updated_at": "2026-11-30T02:26:12.123456Z",
        "rev": 1,
    }
    assert job == workshop.get(job.id)


def test_there_is_no_job(workshop: Workshop) -> None:
    assert workshop.queue.claim(MAILER) is None
    assert workshop.queue.claim_batch(MAILER, 5) == ()


def test_a_job_is_claimed_once(workshop: Workshop) -> None:
    workshop.running()
    assert workshop.queue.claim(PRINTER) is None


def test_the_oldest_job_comes_first(workshop: Workshop) -> None:
    enqueued = []
    for _ in range(25):
        enqueued.append(workshop.enqueue())
        workshop.clock.advance(0.001)
    assert ids(drain(workshop)) == ids(enqueued)


def test_the_highest_priority_comes_first(workshop: Workshop) -> None:
    enqueued = {}
    for priority in (JobPriority.MEDIUM, JobPriority.LOW, JobPriority.CRITICAL, JobPriority.HIGH):
        enqueued[priority] = workshop.enqueue(priority=priority)
        workshop.clock.advance(1)
    wanted = [enqueued[priority].id for priority in JobPriority.highest_first()]
    assert ids(drain(workshop)) == wanted


def test_the_highest_priority_of_two_shards_comes_first(workshop: Workshop) -> None:
    workshop.deploy(wide(2))
    for _ in range(8):
        workshop.enqueue()
    for _ in range(8):
        urgent = workshop.enqueue(priority=JobPriority.CRITICAL)
        assert workshop.claim().id == urgent.id


def test_an_urgent_job_waits_for_few_claims_whatever_shard_it_is_in(workshop: Workshop) -> None:
    workshop.deploy(wide(8))
    for _ in range(200):
        workshop.enqueue()
    waits = []
    for _ in range(10):
        urgent = workshop.enqueue(priority=JobPriority.CRITICAL)
        waits.append(1)
        while workshop.claim().id != urgent.id:
            waits[-1] += 1
    # two of eight shards are looked at: about one claim in four finds it
    assert sum(waits) / len(waits) < 8


def test_the_oldest_of_all_queues_comes_first(workshop: Workshop) -> None:
    enqueued = []
    for queue in ("bulk", "default", "default", "bulk", "bulk", "default"):
        enqueued.append(workshop.enqueue(queue=queue))
        workshop.clock.advance(1)
    assert ids(drain(workshop)) == ids(enqueued)


def test_a_priority_is_worth_more_than_age_in_another_queue(workshop: Workshop) -> None:
    low = workshop.enqueue(queue="bulk")
    workshop.clock.advance(60)
    high = workshop.enqueue(priority=JobPriority.HIGH)
    assert ids(drain(workshop)) == [high.id, low.id]


def test_a_delayed_job_is_claimed_when_its_time_has_come(workshop: Workshop) -> None:
    workshop.enqueue(delay_seconds=60)
    workshop.clock.advance(59.999999)
    assert workshop.queue.claim(MAILER) is None
    workshop.clock.advance(0.000001)
    assert workshop.claim().claimed_at == START + 60 * SECOND


def test_a_delayed_job_takes_its_place_by_the_time_when_it_was_due(workshop: Workshop) -> None:
    delayed = workshop.enqueue(delay_seconds=60)
    workshop.clock.advance(61)
    later = workshop.enqueue()
    assert ids(drain(workshop)) == [delayed.id, later.id]


@pytest.mark.parametrize("count", [1, 4, 20])
def test_all_shards_are_emptied(count: int, workshop: Workshop) -> None:
    workshop.deploy(WIDE)
    enqueued = [workshop.enqueue() for _ in range(count)]
    assert sorted(ids(drain(workshop))) == sorted(ids(enqueued))


def test_a_shard_that_was_added_does_not_hide_older_jobs(workshop: Workshop) -> None:
    workshop.deploy(JobTypes([JobType(name="note", payload=NOTE, queue="wide")], [Queue(name="wide")]))
    older = [workshop.enqueue() for _ in range(8)]
    workshop.deploy(WIDE)
    newer = [workshop.enqueue() for _ in range(8)]
    assert sorted(ids(drain(workshop))) == sorted(ids([*older, *newer]))


def test_only_the_queues_that_are_named_are_looked_at(workshop: Workshop) -> None:
    workshop.enqueue()
    bulk = workshop.enqueue(queue="bulk")
    assert ids(drain(workshop, queues=["bulk", "bulk"])) == [bulk.id]
    assert drain(workshop, queues=[]) == []


def test_only_granted_queues_are_looked_at(workshop: Workshop) -> None:
    workshop.enqueue()
    bulk = workshop.enqueue(queue="bulk")
    loader = worker("loader", "bulk")
    assert workshop.claim(loader).id == bulk.id
    assert workshop.queue.claim(loader) is None
    with pytest.raises(QueueNotAllowed):
        workshop.queue.claim(loader, queues=["bulk", "default"])


def test_an_unknown_queue_is_named(workshop: Workshop) -> None:
    with pytest.raises(InvalidRequest) as refused:
        workshop.queue.claim(MAILER, queues=["default", "removed"])
    assert [error.field for error in refused.value.errors] == ["queues"]


@pytest.mark.parametrize("kind, lease", [("note", 60), ("patient", 600)])
def test_a_lease_is_that_of_the_type(kind: str, lease: int, workshop: Workshop) -> None:
    workshop.enqueue(type=kind)
    assert workshop.claim().lease_expires_at == START + lease * SECOND


def test_a_lease_can_be_asked_for(workshop: Workshop) -> None:
    workshop.enqueue(type="patient")
    assert workshop.claim(lease_seconds=5).lease_expires_at == START + 5 * SECOND


def test_a_type_that_is_not_declared_any_more_is_worked_with_the_default_policy(workshop: Workshop) -> None:
    job = workshop.enqueue(type="patient")
    workshop.deploy(JobTypes([], []))
    assert workshop.claim().lease_expires_at == START + Policy().lease_seconds * SECOND
    assert workshop.queue.fail(MAILER, job.id).status is JobStatus.PENDING
    workshop.clock.advance(BACKOFF.base_seconds)
    assert workshop.claim().id == job.id


def test_a_batch_is_in_the_order_of_claiming(workshop: Workshop) -> None:
    low = [workshop.enqueue() for _ in range(3)]
    high = [workshop.enqueue(priority=JobPriority.HIGH) for _ in range(3)]
    claimed = workshop.queue.claim_batch(MAILER, 5)
    assert ids(claimed) == ids([*high, *low[:2]])
    assert {job.worker_id for job in claimed} == {"key:mailer"}
    assert len({job.lease_token for job in claimed}) == 5


def test_a_batch_takes_what_there_is(workshop: Workshop) -> None:
    enqueued = [workshop.enqueue() for _ in range(13)]
    assert ids(workshop.queue.claim_batch(MAILER, 25)) == ids(enqueued)


@pytest.mark.parametrize("cancel", [True, False])
def test_a_lost_reply_is_no_lost_job(cancel: bool, workshop: Workshop) -> None:
    enqueued = workshop.enqueue()
    with workshop.lost_reply("UpdateItem"):
        if cancel:
            # others may have left their marks before the write is repeated
            with workshop.just_before(
                "UpdateItem", lambda: None, lambda: workshop.queue.cancel(OPS, enqueued.id)
            ):
                job = workshop.claim()
        else:
            job = workshop.claim()
    assert (job.id, job.status, job.retry_count) == (enqueued.id, JobStatus.RUNNING, 0)
    assert job.cancel_requested == cancel
    assert workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token).status.is_finished


def test_each_claim_has_a_token_of_its_own(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.release(MAILER, job.id)
    assert workshop.claim().lease_token != job.lease_token


def test_what_was_claimed_is_handed_out_though_the_table_fails_then(workshop: Workshop) -> None:
    first = workshop.enqueue(priority=JobPriority.HIGH)
    workshop.enqueue()
    with workshop.down("UpdateItem", after=1):
        assert ids(workshop.queue.claim_batch(MAILER, 2)) == [first.id]


def test_what_was_claimed_beside_a_failure_is_handed_out(workshop: Workshop) -> None:
    enqueued = [workshop.enqueue() for _ in range(3)]
    with workshop.down("UpdateItem", after=2):
        claimed = workshop.queue.claim_batch(MAILER, 3)
    assert len(claimed) == 2
    running = {job.id for job in enqueued if workshop.item(job.id)["status"] == "running"}
    assert running == set(ids(claimed))


@pytest.mark.parametrize("operation", ["Query", "UpdateItem"])
def test_a_table_out_of_reach_is_told(operation: str, workshop: Workshop) -> None:
    job = workshop.enqueue()
    with workshop.down(operation), pytest.raises(Unavailable):
        workshop.queue.claim(MAILER)
    assert workshop.item(job.id)["status"] == "pending"


def test_a_bad_entry_does_not_keep_the_others_from_being_claimed(workshop: Workshop) -> None:
    unreadable, bad_payload, good = (workshop.enqueue() for _ in range(3))
    workshop.spoil(unreadable.id, priority="high")
    workshop.spoil(bad_payload.id, payload="{")
    assert workshop.claim().id == good.id
    assert workshop.queue.claim(MAILER) is None


def test_a_bad_item_does_not_cost_the_jobs_beside_it(workshop: Workshop) -> None:
    enqueued = [workshop.enqueue() for _ in range(5)]
    workshop.spoil(enqueued[2].id, payload="{")
    claimed = workshop.queue.claim_batch(MAILER, 5)
    assert set(ids(claimed)) == set(ids(enqueued)) - {enqueued[2].id}
