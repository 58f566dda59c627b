"""What DynamoDB bills for each operation on a job under 1 KB, counted by AWS's own engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue.job import Job, JobPriority
from jobqueue.queue import NewJob
from tests.bench.life import our_life, whole_life
from tests.bench.meter import Bill, Meter
from tests.bench.payloads import incompressible, ordinary
from tests.dynamodb.scenarios import extended, failed, lost
from tests.support.dynamodb_local import connect_anew
from tests.support.workshop import MAILER, OPS, PRINTER, SHOP, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRACE = "1-5759e988-bd862e3fe1be46a994272793"
PAYLOAD = {"to": "someone@example.com", "subject": "Your order", "body": "It is on its way."}
RESULT = {"message_id": "0100019a2b3c4d5e-000000"}
EMPTY_LANES = len(JobPriority)


@pytest.fixture(scope="module")
def meter(shared_client: DynamoDBClient) -> Meter:
    return Meter(shared_client)


def enqueue(workshop: Workshop, key: str | None = None) -> Job:
    """Enqueue a job as a request does; of the highest priority, so that a claim looks at one lane."""
    new = NewJob(type="eager", payload=PAYLOAD, priority=JobPriority.CRITICAL, idempotency_key=key)
    return workshop.queue.enqueue(SHOP, new, trace_id=TRACE).job


def running(workshop: Workshop) -> Job:
    enqueue(workshop)
    return workshop.claim()


def finish(workshop: Workshop, job: Job) -> Job:
    return workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token, result=RESULT)


Step = Callable[[Workshop, Any], object]
OPERATIONS: dict[str, tuple[Callable[[Workshop], Any], Step, Bill]] = {
    "enqueue": (lambda _: None, lambda w, _: enqueue(w), Bill(calls=1, write_units=2)),
    "enqueue with a key": (lambda _: None, lambda w, _: enqueue(w, "order-7"), Bill(calls=1, write_units=2)),
    "claim": (enqueue, lambda w, _: w.claim(), Bill(calls=2, write_units=3, read_units=0.5)),
    "claim of ten": (
        lambda w: [enqueue(w) for _ in range(10)],
        lambda w, _: w.queue.claim_batch(MAILER, 10),
        Bill(calls=11, write_units=30, read_units=0.5),
    ),
    "take over": (
        lost,
        lambda w, _: w.claim(PRINTER),
        Bill(calls=EMPTY_LANES + 3, write_units=3, read_units=0.5 * EMPTY_LANES + 1.5),
    ),
    "claim, no job": (
        lambda _: None,
        lambda w, _: w.queue.claim(MAILER),
        Bill(calls=EMPTY_LANES + 1, read_units=0.5 * (EMPTY_LANES + 1)),
    ),
    "claim of a job of low priority": (
        Workshop.enqueue,
        lambda w, _: w.claim(),
        Bill(calls=EMPTY_LANES + 1, write_units=3, read_units=0.5 * EMPTY_LANES),
    ),
    "complete": (running, finish, Bill(calls=1, write_units=3)),
    "heartbeat": (
        running,
        lambda w, job: w.queue.extend(MAILER, job.id, lease_token=job.lease_token, lease_seconds=90),
        Bill(calls=1, write_units=1),
    ),
    "fail": (
        running,
        lambda w, job: w.queue.fail(MAILER, job.id, lease_token=job.lease_token, error="timed out"),
        Bill(calls=2, write_units=3, read_units=1),
    ),
    "release": (
        running,
        lambda w, job: w.queue.release(MAILER, job.id, lease_token=job.lease_token),
        Bill(calls=2, write_units=3, read_units=1),
    ),
    "retry": (failed, lambda w, job: w.queue.retry(OPS, job.id), Bill(calls=2, write_units=3, read_units=1)),
    "cancel, waiting": (
        enqueue,
        lambda w, job: w.queue.cancel(OPS, job.id),
        Bill(calls=2, write_units=3, read_units=1),
    ),
    "cancel, running": (
        running,
        lambda w, job: w.queue.cancel(OPS, job.id),
        Bill(calls=2, write_units=2, read_units=1),
    ),
    "get": (running, lambda w, job: w.get(job.id), Bill(calls=1, read_units=1)),
    "rescue": (lost, lambda w, _: w.rescuer.run(), Bill(calls=3, write_units=3, read_units=1.5)),
    "file an extended lease anew": (
        extended,
        lambda w, _: w.rescuer.run(),
        Bill(calls=3, write_units=3, read_units=1.5),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_an_operation_costs(name: str, workshop: Workshop, meter: Meter) -> None:
    prepare, call, price = OPERATIONS[name]
    found = prepare(workshop)
    with meter.measure() as bill:
        call(workshop, found)
    assert bill == price


def test_a_life_costs_eight_write_units(workshop: Workshop, meter: Meter) -> None:
    with meter.measure() as bill:
        enqueue(workshop, "order-7")
        finish(workshop, workshop.claim())
    assert bill == Bill(calls=4, write_units=8, read_units=0.5)


def test_an_empty_queue_costs_the_same_however_often_it_is_asked(workshop: Workshop, meter: Meter) -> None:
    with meter.measure() as bill:
        for _ in range(100):
            assert workshop.queue.claim(MAILER) is None
    assert bill == Bill(calls=100 * (EMPTY_LANES + 1), read_units=50 * (EMPTY_LANES + 1))


def test_a_large_payload_costs_a_third_and_one_that_cannot_be_shrunk_no_more_than_it_must(url: str) -> None:
    lives = {
        make: whole_life(our_life(connect_anew(url, "onetest"), make(32_768)))
        for make in (ordinary, incompressible)
    }
    assert 3 * lives[ordinary].write_units <= lives[incompressible].write_units
    # 32 KB and about one for the rest, three times, and five of the index
    assert lives[incompressible].write_units <= 3 * 33 + 5
