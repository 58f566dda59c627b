"""What each call asks DynamoDB for: idle cost and the price of a job are counted here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobqueue.errors import JobNotFound
from jobqueue.job import Job, JobPriority
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.queue import JobFilter
from tests.support.callers import worker
from tests.support.workshop import MAILER, NOTE, OPS, SHOP, Workshop

LOADER = worker("loader", "bulk")
READ_AND_WRITE = {"GetItem": 1, "UpdateItem": 1}
PRIORITIES = len(JobPriority)


@pytest.mark.parametrize("key", [None, "k"])
def test_enqueue_is_one_put(key: str | None, workshop: Workshop) -> None:
    for _ in range(2):
        with workshop.calls() as calls:
            workshop.enqueue(idempotency_key=key)
        assert calls == {"PutItem": 1}


@pytest.mark.parametrize(
    "priority, lanes",
    [(JobPriority.CRITICAL, 1), (JobPriority.HIGH, 2), (JobPriority.MEDIUM, 3), (JobPriority.LOW, 4)],
)
def test_claim_is_a_query_for_each_lane_looked_at_and_one_update(
    priority: JobPriority, lanes: int, workshop: Workshop
) -> None:
    workshop.enqueue(priority=priority, queue="bulk")
    with workshop.calls() as calls:
        workshop.claim(LOADER)
    assert calls == {"Query": lanes, "UpdateItem": 1}


@pytest.mark.parametrize("shards", [1, 2, 3, 25])
def test_a_claim_looks_at_no_more_than_two_shards_while_jobs_are_plenty(
    shards: int, workshop: Workshop
) -> None:
    workshop.deploy(
        JobTypes([JobType(name="note", payload=NOTE, queue="bulk")], [Queue(name="bulk", shards=shards)])
    )
    for _ in range(6 * shards):
        workshop.enqueue()
    for _ in range(2 * shards):
        with workshop.calls() as calls:
            workshop.claim(LOADER)
        assert calls["Query"] <= min(2, shards) * PRIORITIES
        assert calls["UpdateItem"] == 1


def test_a_claim_looks_at_all_shards_before_it_says_none(workshop: Workshop) -> None:
    workshop.deploy(
        JobTypes([JobType(name="note", payload=NOTE, queue="bulk")], [Queue(name="bulk", shards=5)])
    )
    with workshop.calls() as calls:
        assert workshop.queue.claim(LOADER) is None
    assert calls == {"Query": 5 * PRIORITIES + 5}  # and the running lanes, for one to take over


def test_claiming_a_batch_looks_once(workshop: Workshop) -> None:
    for _ in range(20):
        workshop.enqueue(priority=JobPriority.CRITICAL, queue="bulk")
    with workshop.calls() as calls:
        assert len(workshop.queue.claim_batch(LOADER, 10)) == 10
    assert calls == {"Query": 1, "UpdateItem": 10}


def test_a_lane_is_read_on_only_when_its_page_is_used_up(workshop: Workshop) -> None:
    for _ in range(30):
        workshop.enqueue(priority=JobPriority.CRITICAL, queue="bulk")
    for _ in range(3):
        with workshop.calls() as calls:
            workshop.claim(LOADER)
        assert calls == {"Query": 1, "UpdateItem": 1}


def test_a_takeover_is_a_read_and_an_update(workshop: Workshop) -> None:
    workshop.running(queue="bulk")
    workshop.lose_lease()
    with workshop.calls() as calls:
        workshop.claim(LOADER)
    assert calls == {"Query": PRIORITIES + 1} | READ_AND_WRITE


OF_HOLDERS: dict[str, tuple[Callable[[Workshop, Job], object], dict[str, int]]] = {
    "complete": (
        lambda at, job: at.queue.complete(MAILER, job.id, lease_token=job.lease_token, result=1),
        {"UpdateItem": 1},
    ),
    "complete without a token": (lambda at, job: at.queue.complete(MAILER, job.id), READ_AND_WRITE),
    "heartbeat with a lease": (
        lambda at, job: at.queue.extend(
            MAILER, job.id, lease_token=job.lease_token, lease_seconds=90, progress=1
        ),
        {"UpdateItem": 1},
    ),
    "heartbeat without a lease": (
        lambda at, job: at.queue.extend(MAILER, job.id, lease_token=job.lease_token),
        READ_AND_WRITE,
    ),
    "fail": (
        lambda at, job: at.queue.fail(MAILER, job.id, lease_token=job.lease_token),
        READ_AND_WRITE,
    ),
    "fail without a token": (lambda at, job: at.queue.fail(MAILER, job.id), READ_AND_WRITE),
    "release": (
        lambda at, job: at.queue.release(MAILER, job.id, lease_token=job.lease_token),
        READ_AND_WRITE,
    ),
    "cancel of a running job": (lambda at, job: at.queue.cancel(SHOP, job.id), READ_AND_WRITE),
    "get": (lambda at, job: at.queue.get(SHOP, job.id), {"GetItem": 1}),
}


@pytest.mark.parametrize("call", OF_HOLDERS)
def test_what_a_call_on_a_running_job_costs(call: str, workshop: Workshop) -> None:
    operate, cost = OF_HOLDERS[call]
    job = workshop.running()
    with workshop.calls() as calls:
        operate(workshop, job)
    assert calls == cost


def test_cancel_and_retry_of_what_does_not_run_are_a_read_and_an_update(workshop: Workshop) -> None:
    job = workshop.enqueue()
    for call in (workshop.queue.cancel, workshop.queue.retry):
        with workshop.calls() as calls:
            call(OPS, job.id)
        assert calls == READ_AND_WRITE


def test_an_idle_claim_costs_a_fixed_number_of_queries(workshop: Workshop) -> None:
    workshop.deploy(
        JobTypes([JobType(name="note", payload=NOTE)], [Queue(name="bulk"), Queue(name="default", shards=2)])
    )
    lanes = 3
    for finished in range(3):
        for _ in range(5):
            with workshop.calls() as calls:
                assert workshop.queue.claim(MAILER) is None
            assert calls == {"Query": lanes * (PRIORITIES + 1)}
        # nor does it grow with what lies in the table
        for _ in range(2 * finished):
            workshop.queue.complete(MAILER, workshop.running().id)
        workshop.enqueue(delay_seconds=3600)


def test_an_idle_rescue_is_a_query_for_each_running_lane(workshop: Workshop) -> None:
    workshop.running()
    with workshop.calls() as calls:
        workshop.rescuer.run()
    assert calls == {"Query": 2}


def test_a_rescue_is_a_read_and_an_update_for_each_job(workshop: Workshop) -> None:
    for _ in range(3):
        workshop.running()
    workshop.lose_lease()
    with workshop.calls() as calls:
        workshop.rescuer.run()
    assert calls == {"Query": 2, "GetItem": 3, "UpdateItem": 3}


def test_a_list_is_a_query_for_each_lane_and_no_scan(workshop: Workshop) -> None:
    workshop.enqueue()
    with workshop.calls() as calls:
        workshop.queue.list(OPS, JobFilter(queue="default"), limit=10)
    assert calls == {"Query": PRIORITIES + 4}


def test_no_call_is_made_for_what_is_no_id(workshop: Workshop) -> None:
    with workshop.calls() as calls:
        for call in (workshop.queue.get, workshop.queue.cancel, workshop.queue.retry):
            with pytest.raises(JobNotFound):
                call(OPS, "job_nope")
    assert calls == {}
