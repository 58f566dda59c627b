"""Giving the jobs of holders that went silent back to their queues."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from jobqueue.errors import JobNotHeld, Unavailable
from jobqueue.job import JobPriority, JobStatus
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.rescue import MOST_PER_LANE, Found, Rescuer
from jobqueue.retries import Retries
from tests.support.workshop import (
    BACKOFF,
    JOB_TYPES,
    JOBS,
    LEASE_SECONDS,
    MAILER,
    NOTE,
    OPS,
    PRINTER,
    Workshop,
)

LATER = "2026-11-30T02:27:07.123456Z"
HELD_ONLY = {"worker_id", "claimed_at", "lease_token", "lease_expires_at", "lane_done", "progress"}
LOST = {"error": "lease expired", "failed_at": LATER, "worker_id": "key:mailer"}


def test_what_a_rescue_writes_that_is_retried(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.extend(MAILER, job.id, progress=50)
    before = workshop.item(job.id)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.REQUEUED: 1}
    kept = {name: before[name] for name in before.keys() - HELD_ONLY}
    assert workshop.item(job.id) == kept | {
        "status": "pending",
        "lane": "default/pending/0/0",
        "lane_order": f"{LATER}#{job.id}",
        "available_at": LATER,
        "updated_at": LATER,
        "retry_count": 1,
        "error": "lease expired",
        "errors": [LOST],
        "rev": 2,
    }
    assert workshop.found == [(Found.REQUEUED, job.id)]


def test_what_a_rescue_writes_that_is_the_last(workshop: Workshop) -> None:
    job = workshop.running(max_retries=0)
    before = workshop.item(job.id)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.FAILED: 1}
    before.pop("lease_expires_at")
    assert workshop.item(job.id) == before | {
        "status": "failed",
        "lane": "default/failed/0",
        "lane_order": f"{LATER}#{job.id}",
        "finished_at": LATER,
        "updated_at": LATER,
        "expires_at": 1_796_610_428,
        "error": "lease expired",
        "errors": [LOST],
        "rev": 2,
    }


def test_a_lost_job_waits_by_the_backoff(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    workshop.rescuer.run()
    available = workshop.get(job.id).available_at
    assert workshop.clock.now < available
    assert workshop.queue.claim(PRINTER) is None
    workshop.clock.advance(BACKOFF.base_seconds)
    assert workshop.claim(PRINTER).retry_count == 1


def test_a_lost_job_that_was_asked_to_cancel_is_cancelled(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.CANCELLED: 1}
    found = workshop.get(job.id)
    assert (found.status, found.retry_count, found.error) == (JobStatus.CANCELLED, 0, "lease expired")


@pytest.mark.parametrize("seconds, found", [(60, {}), (64.999999, {}), (65, {Found.REQUEUED: 1})])
def test_a_lease_and_its_grace_must_be_over(
    seconds: float, found: dict[Found, int], workshop: Workshop
) -> None:
    workshop.running()
    workshop.clock.advance(seconds)
    assert workshop.rescuer.run() == found


def test_there_is_nothing_to_rescue(workshop: Workshop) -> None:
    workshop.enqueue()
    workshop.clock.advance(3600)
    assert workshop.rescuer.run() == {}
    assert workshop.found == []


def test_an_extended_lease_is_never_rescued_but_filed_anew(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, lease_seconds=3600)
    before = workshop.item(job.id)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.EXTENDED: 1}
    assert workshop.item(job.id) == before | {"lane_order": f"2026-11-30T03:26:02.123456Z#{job.id}"}
    assert workshop.rescuer.run() == {}
    assert workshop.queue.complete(MAILER, job.id).status is JobStatus.COMPLETED


def test_a_lease_in_its_grace_that_was_extended_before_is_left(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, lease_seconds=LEASE_SECONDS + 3)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.EXTENDED: 1}
    assert workshop.get(job.id).status is JobStatus.RUNNING
    workshop.clock.advance(3)
    assert workshop.rescuer.run() == {Found.REQUEUED: 1}


def test_a_poison_job_ends(workshop: Workshop) -> None:
    job = workshop.enqueue(type="eager", max_retries=1)
    claims = 0
    for _ in range(3):
        claims += workshop.queue.claim(MAILER) is not None  # and its process dies
        workshop.lose_lease()
        workshop.rescuer.run()
    ended = workshop.get(job.id)
    assert claims == 2
    assert (ended.status, ended.error, ended.retry_count) == (JobStatus.FAILED, "lease expired", 1)


CHANGES: dict[str, tuple[Callable[[Workshop, str], object], Found, JobStatus]] = {
    "extended": (
        lambda at, job_id: at.queue.extend(MAILER, job_id, lease_seconds=60),
        Found.EXTENDED,
        JobStatus.RUNNING,
    ),
    "completed": (
        lambda at, job_id: at.queue.complete(MAILER, job_id),
        Found.GONE,
        JobStatus.COMPLETED,
    ),
    "asked to cancel": (
        lambda at, job_id: at.queue.cancel(OPS, job_id),
        Found.CANCELLED,
        JobStatus.CANCELLED,
    ),
    "taken over": (
        lambda at, _: at.claim(PRINTER),
        Found.EXTENDED,
        JobStatus.RUNNING,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_in_between_decides(change: str, workshop: Workshop) -> None:
    make, found, status = CHANGES[change]
    job = workshop.running()
    workshop.lose_lease()
    with workshop.just_before("UpdateItem", lambda: make(workshop, job.id)):
        assert workshop.rescuer.run() == {found: 1}
    assert workshop.get(job.id).status is status


def test_a_job_deleted_in_between_is_gone(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()

    def delete() -> None:
        workshop.client.delete_item(TableName="jobs", Key={"id": {"S": job.id}})

    with workshop.just_before("UpdateItem", delete):
        assert workshop.rescuer.run() == {Found.GONE: 1}
    assert workshop.ids() == set()


def test_a_job_that_never_stands_still_is_left_to_the_next_run(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    rev = workshop.item(job.id)["rev"]

    def change() -> None:
        nonlocal rev
        rev += 1
        workshop.spoil(job.id, rev=rev)

    # the write that spoils is an update as well, and is let through
    with workshop.just_before("UpdateItem", *[change] * 10):
        assert workshop.rescuer.run() == {Found.BROKEN: 1}
    assert workshop.rescuer.run() == {Found.REQUEUED: 1}


def test_the_stale_holder_is_refused_after_a_rescue(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    workshop.rescuer.run()
    for call in (workshop.queue.complete, workshop.queue.fail, workshop.queue.release, workshop.queue.extend):
        with pytest.raises(JobNotHeld):
            call(MAILER, job.id, lease_token=job.lease_token)


def test_one_bad_item_does_not_stop_a_run(workshop: Workshop) -> None:
    bad = workshop.running()
    unreadable = workshop.running()
    lost = workshop.running()
    workshop.spoil(bad.id, payload="{")
    workshop.spoil(unreadable.id, priority="high")
    workshop.lose_lease()
    found = workshop.rescuer.run()
    assert (found[Found.REQUEUED], workshop.get(lost.id).status) == (1, JobStatus.PENDING)
    assert found[Found.BROKEN] == 2
    assert {(Found.BROKEN, bad.id), (Found.BROKEN, unreadable.id)} <= set(workshop.found)


def test_all_queues_and_shards_are_looked_through(workshop: Workshop) -> None:
    workshop.deploy(
        JobTypes([JobType(name="note", payload=NOTE)], [Queue(name="default", shards=4), Queue(name="bulk")])
    )
    jobs = [workshop.running(queue=queue) for queue in ("default", "bulk") for _ in range(6)]
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.REQUEUED: 12}
    assert {workshop.get(job.id).status for job in jobs} == {JobStatus.PENDING}


def test_a_run_goes_through_more_than_a_page(workshop: Workshop) -> None:
    for _ in range(60):
        workshop.enqueue(priority=JobPriority.CRITICAL)
    workshop.queue.claim_batch(MAILER, 60)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.REQUEUED: 60}


def test_a_run_looks_at_so_many_jobs_of_a_lane_and_no_more(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.spoil(job.id, payload="{")  # so that each is read and stays
    item = workshop.client.get_item(TableName=JOBS, Key={"id": {"S": job.id}})["Item"]
    copies = [{**item, "id": {"S": f"job_{number:026d}"}} for number in range(1000, 1000 + MOST_PER_LANE)]
    for start in range(0, len(copies), 25):
        put: Any = {JOBS: [{"PutRequest": {"Item": copy}} for copy in copies[start : start + 25]]}
        workshop.client.batch_write_item(RequestItems=put)
    workshop.lose_lease()
    assert workshop.rescuer.run() == {Found.BROKEN: MOST_PER_LANE}


def test_nobody_needs_to_be_told(workshop: Workshop) -> None:
    workshop.running()
    workshop.lose_lease()
    retries = Retries(JOB_TYPES, BACKOFF, random.Random(1))
    quiet = Rescuer(workshop.table(), JOB_TYPES, retries, clock=workshop.clock)
    assert quiet.run() == {Found.REQUEUED: 1}


def test_a_lane_out_of_reach_is_told_after_the_others_were_looked_through(workshop: Workshop) -> None:
    jobs = [workshop.running(queue=queue) for queue in ("bulk", "default")]
    workshop.lose_lease()
    with workshop.down("Query", after=1), pytest.raises(Unavailable):
        workshop.rescuer.run()
    assert sorted(workshop.get(job.id).status for job in jobs) == [JobStatus.PENDING, JobStatus.RUNNING]


def test_a_write_that_fails_is_told_and_made_by_the_next_run(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    with workshop.down("UpdateItem"):
        assert workshop.rescuer.run() == {Found.BROKEN: 1}
    assert workshop.get(job.id).status is JobStatus.RUNNING
    assert workshop.rescuer.run() == {Found.REQUEUED: 1}


def test_the_jobs_of_a_queue_that_is_not_declared_any_more_are_left(workshop: Workshop) -> None:
    job = workshop.running(queue="bulk")
    workshop.deploy(JobTypes([JobType(name="note", payload=NOTE)]))
    workshop.lose_lease()
    assert workshop.rescuer.run() == {}
    # who holds it can still end it, and an admin can still see it
    assert workshop.queue.complete(MAILER, job.id).status is JobStatus.COMPLETED
    assert workshop.get(job.id).queue == "bulk"
