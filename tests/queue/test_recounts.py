"""Counters that went wrong are right again by themselves, and those that are only behind are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.errors import Unavailable
from jobqueue.job import JobPriority
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.queues import COUNTERS
from jobqueue.recounting import ENTRIES_A_MINUTE, Streak, judge
from tests.support.botofaults import Faults
from tests.support.clock import START
from tests.support.log import log_lines
from tests.support.office import Office
from tests.support.workshop import MAILER, NOTE, OPS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def some_jobs(office: Office) -> None:
    """Have jobs in every state."""
    for discard in (True, True, False):
        job = office.running(priority=JobPriority.CRITICAL)
        office.queue.fail(MAILER, job.id, discard=discard, retry_in_seconds=None if discard else 3600)
    office.queue.complete(MAILER, office.running().id)
    office.queue.cancel(OPS, office.enqueue().id)
    office.running()
    for priority in JobPriority:
        office.enqueue(priority=priority)


def test_records_that_came_twice_in_other_batches(office: Office) -> None:
    some_jobs(office)
    records = office.records()
    office.follower.follow(records)
    office.follower.follow(records[3:])
    wrong = office.counts()
    assert wrong != office.counted()
    office.measure()
    assert office.counts() == wrong  # it may be on its way
    office.measure()
    assert office.counts() == office.counted()
    office.measure(3)
    assert office.counts() == office.counted()


def test_records_that_never_came(office: Office) -> None:
    some_jobs(office)
    office.follower.follow(office.records()[:2])
    with log_lines() as lines:
        office.measure(2)
    assert office.counts() == office.counted()
    corrected = [line for line in lines if line["outcome"] == "corrected"]
    assert {line["queue"] for line in corrected} == {"default"}
    assert {line["counter"]: line["by"] for line in corrected}["failed"] == 2


def test_a_queue_that_was_there_before_it_was_counted(office: Office) -> None:
    some_jobs(office)
    office.records()
    office.measure(2)
    assert office.counts() == office.counted()


def test_changes_on_their_way_are_no_drift(office: Office) -> None:
    for number in range(1, 16):
        for _ in range(number % 3):
            office.enqueue()
        left = office.records()
        office.measure()
        if left:
            office.follower.follow(left)
        assert office.counts() == {"pending_low": len(office.ids())}


def test_changes_that_are_late_by_more_than_a_minute_are_not_doubled_for_long(office: Office) -> None:
    office.enqueue()
    left = office.records()
    office.measure(3)
    assert office.counts() == {"pending_low": 1}
    office.follower.follow(left)
    assert office.counts() == {"pending_low": 2}
    office.measure(2)
    assert office.counts() == {"pending_low": 1}


def test_a_queue_that_is_always_busy_is_right_as_well(office: Office) -> None:
    office.enqueue()
    office.follow()
    office.queues.count("default", {"pending_low": 5}, "drift")
    for _ in range(6):
        office.enqueue()
        office.follow()
        office.measure()
    assert office.counts() == office.counted()


def test_every_shard_is_counted(dynamodb: DynamoDBClient) -> None:
    job_types = JobTypes(
        types=[JobType(name="note", payload=NOTE, queue="wide")], queues=[Queue(name="wide", shards=4)]
    )
    office = Office(dynamodb, job_types)
    for _ in range(12):
        office.enqueue()
    office.records()
    office.measure(2)
    assert office.counts("wide") == {"pending_low": 12}


def test_a_recount_in_steps(dynamodb: DynamoDBClient) -> None:
    job_types = JobTypes(
        types=[JobType(name="note", payload=NOTE, queue="wide")], queues=[Queue(name="wide", shards=3)]
    )
    office = Office(dynamodb, job_types)
    for _ in range(25):
        office.enqueue()
    office.queue.complete(MAILER, office.claim().id)
    office.records()
    office.measurer = office.a_measurer(page=2, most_entries=7)
    with office.calls() as calls:
        office.measure()
    ages = 4 * (3 + 1)  # a look at each lane of waiting jobs, of both queues
    empty = 8  # counters of the other queue
    assert calls["Query"] <= ages + empty + 7
    assert "step" in office.record("wide").recount
    office.measure(40)
    assert office.counts("wide") == {"pending_low": 24, "completed": 1}


def test_small_counters_are_recounted_every_minute_and_large_ones_rarely(office: Office) -> None:
    office.queues.count("default", {"completed": 9 * ENTRIES_A_MINUTE + 1}, "many")
    office.clock.now = START.replace(minute=0)
    lanes: list[str] = []

    def look(operation: str, read: Callable[[], dict[str, Any]]) -> None:
        if operation == "Query" and (request := read()).get("Select") == "COUNT":
            lanes.append(request["ExpressionAttributeValues"][":lane"]["S"])

    with Faults.of(office.client).watched(look):
        office.measure(9)
        assert (lanes.count("default/pending/0/0"), lanes.count("default/completed/0")) == (9, 0)
        office.measure()
    assert (lanes.count("default/pending/0/0"), lanes.count("default/completed/0")) == (10, 1)


def test_two_recounts_at_once_correct_once(office: Office) -> None:
    some_jobs(office)
    office.records()
    office.measure()
    elsewhere = office.a_measurer()
    office.clock.advance(60)
    with office.just_before("UpdateItem", elsewhere.run):
        office.measurer.run()
    assert office.counts() == office.counted()


def test_a_correction_whose_answer_was_lost_is_made_once(office: Office) -> None:
    some_jobs(office)
    office.records()
    office.measure()
    with office.lost_reply("UpdateItem"):
        office.measure()
    assert office.counts() == office.counted()


def test_nothing_is_written_when_all_is_right(office: Office) -> None:
    some_jobs(office)
    office.follow()
    office.measure()
    with office.calls() as calls:
        office.measure(3)
    assert calls["UpdateItem"] == 0
    assert calls.keys() == {"BatchGetItem", "Query"}


def test_a_busy_table_is_told_and_nothing_is_corrected_by_half(office: Office) -> None:
    some_jobs(office)
    office.records()
    office.measure()
    with office.down("UpdateItem"), log_lines() as lines, pytest.raises(Unavailable):
        office.measure()
    assert "not-recounted" in {line["outcome"] for line in lines}
    office.measure()
    assert office.counts() == office.counted()


BATCHES = st.sampled_from(["a", "b"])


@given(st.integers(-50, 50), BATCHES)
def test_one_difference_proves_nothing(difference: int, batch: str) -> None:
    streak, correction = judge(None, difference, batch)
    assert correction == 0
    assert (streak is None) is (difference == 0)


@given(st.lists(st.tuples(st.integers(-3, 3), BATCHES), max_size=20))
def test_a_correction_never_goes_beyond_any_of_the_differences(seen: list[tuple[int, str]]) -> None:
    streak: Streak | None = None
    since: list[int] = []
    for difference, batch in seen:
        streak, correction = judge(streak, difference, batch)
        since.append(difference)
        if correction:
            assert all(abs(correction) <= abs(one) and correction * one > 0 for one in since[-2:])
        if streak is None or streak.times == 1:
            since = [difference]


def test_every_counter_is_recounted(office: Office) -> None:
    for name in COUNTERS:
        office.queues.count("default", {name: 3}, name)
    office.measure(2)
    assert office.counts() == {}
