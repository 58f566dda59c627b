"""The counts of a queue follow what happens to its jobs, however the stream tells it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobqueue.errors import JobQueueError
from jobqueue.job import JobPriority
from jobqueue.queues import COUNTERS, REMEMBERED_BATCHES
from tests.queue.conftest import Connect
from tests.support.office import Office
from tests.support.streams import Records
from tests.support.tables import create_tables
from tests.support.workshop import JOBS, MAILER, OPS, SHOP

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def test_there_is_a_counter_for_each_status_and_for_each_priority_that_waits() -> None:
    assert set(COUNTERS) == {
        *("pending_low", "pending_medium", "pending_high", "pending_critical"),
        *("running", "completed", "failed", "cancelled"),
    }


def test_a_life(office: Office) -> None:
    job = office.enqueue(priority=JobPriority.HIGH)
    office.follow()
    assert office.counts() == {"pending_high": 1}
    office.claim()
    office.follow()
    assert office.counts() == {"running": 1}
    office.queue.complete(MAILER, job.id)
    office.follow()
    assert office.counts() == {"completed": 1}
    # as TTL does
    office.client.delete_item(TableName=JOBS, Key={"id": {"S": job.id}})
    office.follow()
    assert office.counts() == {}


def test_what_changes_no_count_writes_nothing(office: Office) -> None:
    job = office.running()
    office.follow()
    office.queue.extend(MAILER, job.id, lease_seconds=120)
    office.queue.cancel(SHOP, job.id)
    records = office.records()
    assert len(records) == 2
    with office.calls() as calls:
        assert office.follower.follow(records) is None
    assert calls == {}


def test_a_batch_is_one_write_for_each_of_its_queues(office: Office) -> None:
    for number in range(20):
        office.enqueue(queue="bulk" if number % 2 else "default")
    records = office.records()
    with office.calls() as calls:
        office.follower.follow(records)
    assert calls == {"UpdateItem": 2}
    assert (office.counts("default"), office.counts("bulk")) == ({"pending_low": 10}, {"pending_low": 10})


def test_a_batch_that_comes_again_does_not_count_again(office: Office) -> None:
    for _ in range(3):
        office.enqueue()
    records = office.records()
    for _ in range(3):
        assert office.follower.follow(records) is None
    assert office.counts() == {"pending_low": 3}


def test_a_batch_that_comes_again_after_others_does_not_count_again(office: Office) -> None:
    office.enqueue()
    first = office.records()
    office.follower.follow(first)
    for _ in range(REMEMBERED_BATCHES - 1):
        office.enqueue()
        office.follow()
    office.follower.follow(first)
    assert office.counts() == {"pending_low": REMEMBERED_BATCHES}


def test_a_batch_whose_count_was_lost_on_the_way_back_counts_once(office: Office) -> None:
    office.enqueue()
    records = office.records()
    with office.lost_reply("UpdateItem"):
        assert office.follower.follow(records) is None
    assert office.counts() == {"pending_low": 1}


def test_part_of_a_batch_was_counted_when_the_table_failed(office: Office) -> None:
    office.enqueue(queue="default")
    office.enqueue(queue="bulk")
    records = office.records()
    with office.down("UpdateItem", after=1):
        assert office.follower.follow(records) == records[0]["dynamodb"]["SequenceNumber"]
    assert office.follower.follow(records) is None
    assert (office.counts("default"), office.counts("bulk")) == ({"pending_low": 1}, {"pending_low": 1})


def test_what_could_not_be_announced_comes_again_and_counts_once(office: Office) -> None:
    for _ in range(5):
        office.enqueue()
    records = office.records()
    office.bus.refuses_from = 2
    assert office.follower.follow(records) == records[2]["dynamodb"]["SequenceNumber"]
    assert office.counts() == {"pending_low": 2}
    office.bus.refuses_from = None
    assert office.follower.follow(records[2:]) is None
    assert office.counts() == {"pending_low": 5}


def test_few_batches_are_remembered(office: Office) -> None:
    office.enqueue()
    for number in range(5 * REMEMBERED_BATCHES):
        office.queues.count("default", {"running": 1}, f"{number:012x}")
        assert len(office.record().batches) < 2 * REMEMBERED_BATCHES
    kept = office.record().batches
    assert kept[-REMEMBERED_BATCHES:] == tuple(
        f"{number:012x}" for number in range(4 * REMEMBERED_BATCHES, 5 * REMEMBERED_BATCHES)
    )


def test_the_item_of_a_queue_stays_within_one_billed_kilobyte(office: Office) -> None:
    for number in range(2 * REMEMBERED_BATCHES - 1):
        office.queues.count("q" * 64, dict.fromkeys(COUNTERS, 123_456_789), f"{number:012x}")
    record = office.record("q" * 64)
    strings = sum(len(batch) + 1 for batch in record.batches)
    numbers = sum(len(name) + 7 for name in COUNTERS)
    assert len("queue") + 64 + len("batches") + 3 + strings + numbers + len("paused") + 1 <= 1024


def test_two_who_forget_at_once_forget_once(office: Office) -> None:
    for number in range(2 * REMEMBERED_BATCHES - 1):
        office.queues.count("default", {"running": 1}, f"{number:012x}")

    def elsewhere() -> None:
        office.queues.count("default", {"running": 1}, "elsewhere")

    # the second write forgets: right before it, somebody else counts and forgets
    with office.just_before("UpdateItem", lambda: None, elsewhere):
        office.queues.count("default", {"running": 1}, "here")
    batches = office.record().batches
    assert batches[-2:] == ("here", "elsewhere")
    assert len(batches) >= REMEMBERED_BATCHES


def test_forgetting_can_wait(office: Office) -> None:
    for number in range(2 * REMEMBERED_BATCHES - 1):
        office.queues.count("default", {"running": 1}, f"{number:012x}")
    with office.down("UpdateItem", after=1):
        assert office.queues.count("default", {"running": 1}, "here")
    assert office.counts() == {"running": 2 * REMEMBERED_BATCHES}


def test_a_key_that_is_used_again_for_another_queue(office: Office) -> None:
    office.enqueue(idempotency_key="k", priority=JobPriority.HIGH)
    job = office.claim()
    office.queue.complete(MAILER, job.id)
    office.follow()
    office.clock.advance(8 * 86_400)
    again = office.enqueue(idempotency_key="k", queue="bulk")
    assert again.id == job.id
    office.follow()
    assert (office.counts("default"), office.counts("bulk")) == ({}, {"pending_low": 1})


def test_an_item_that_is_no_job_stops_nothing(office: Office) -> None:
    office.client.put_item(TableName=JOBS, Item={"id": {"S": "nonsense"}})
    office.enqueue()
    office.follow()
    assert office.counts() == {"pending_low": 1}


OPERATIONS: dict[str, Callable[[Office, int], object]] = {
    "enqueue": lambda office, n: office.enqueue(
        queue=("default", "bulk")[n % 2], priority=tuple(JobPriority)[n % 4], max_retries=n % 3
    ),
    "keyed": lambda office, n: office.enqueue(idempotency_key=f"k{n % 3}"),
    "delayed": lambda office, n: office.enqueue(delay_seconds=n * 10),
    "claim": lambda office, n: office.queue.claim_batch(MAILER, 1 + n % 3, lease_seconds=60 + n),
    "complete": lambda office, n: office.queue.complete(MAILER, _any(office, n)),
    "fail": lambda office, n: office.queue.fail(MAILER, _any(office, n), retry_in_seconds=n % 2),
    "discard": lambda office, n: office.queue.fail(MAILER, _any(office, n), discard=True),
    "release": lambda office, n: office.queue.release(MAILER, _any(office, n)),
    "extend": lambda office, n: office.queue.extend(MAILER, _any(office, n), lease_seconds=300),
    "cancel": lambda office, n: office.queue.cancel(OPS, _any(office, n)),
    "retry": lambda office, n: office.queue.retry(OPS, _any(office, n)),
    "rescue": lambda office, _: office.rescuer.run(),
    "wait": lambda office, n: office.clock.advance(n),
    "wait a week": lambda office, _: office.clock.advance(8 * 86_400),
    "expire": lambda office, n: office.client.delete_item(TableName=JOBS, Key={"id": {"S": _any(office, n)}}),
}
DELIVERIES = ("whole", "twice", "in two", "lost reply", "table fails", "bus fails", "later")


def _any(office: Office, number: int) -> str:
    ids = sorted(office.ids()) or ["job_00000000000000000000000000"]
    return ids[number % len(ids)]


def _deliver(office: Office, records: Records, how: str) -> Records:
    """Deliver records as Lambda does; return those that are left for the next time."""
    if how == "later":
        return records
    if how == "in two" and len(records) > 1:
        office.follower.follow(records[: len(records) // 2])
        office.follower.follow(records[len(records) // 2 :])
        return []
    if how == "bus fails":
        office.bus.refuses_from = len(records) // 2
        office.follower.follow(records)
        office.bus.refuses_from = None
        return records[len(records) // 2 :]
    if how == "table fails":
        with office.down("UpdateItem", after=1):
            again = office.follower.follow(records)
        assert again in {None, records[0]["dynamodb"]["SequenceNumber"]}
    office.follower.follow(records)
    if how == "twice":
        office.follower.follow(records)
    return []


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 50), st.sampled_from(DELIVERIES)),
        max_size=30,
    )
)
def test_counts_are_right_after_any_mix(engine: Connect, steps: list[tuple[str, int, str]]) -> None:
    with engine() as client:
        for name in client.list_tables()["TableNames"]:
            client.delete_table(TableName=name)
        create_tables(client)
        office = Office(client)
        left: Records = []
        for operation, number, delivery in steps:
            with suppress(JobQueueError):  # not every job can be dealt with in every way
                OPERATIONS[operation](office, number)
            left += office.records()
            if left:
                left = _deliver(office, left, delivery)
        if left:
            office.follower.follow(left)
        for queue in ("default", "bulk"):
            assert office.counts(queue) == office.counted(queue)
