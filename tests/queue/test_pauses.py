"""A paused queue takes jobs and hands none out, within ten seconds everywhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue.errors import QueueNotFound, Unavailable
from jobqueue.job import JobStatus
from tests.support.callers import admin
from tests.support.office import QUEUES, Office
from tests.support.shifts import Site
from tests.support.workshop import MAILER, OPS, PRINTER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def test_a_paused_queue_takes_jobs_and_hands_none_out(office: Office) -> None:
    office.operator.pause(OPS, "default")
    job = office.enqueue()
    assert office.queue.claim(MAILER) is None
    assert office.queue.claim_batch(MAILER, 10) == ()
    assert office.queue.claim(MAILER, queues=["default"]) is None
    assert office.get(job.id).status is JobStatus.PENDING


def test_a_claim_of_paused_queues_alone_looks_at_no_lane(office: Office) -> None:
    office.operator.pause(OPS, "default")
    office.operator.pause(OPS, "bulk")
    with office.calls() as calls:
        assert office.queue.claim(MAILER) is None
    assert calls == {"BatchGetItem": 1}


def test_other_queues_go_on(office: Office) -> None:
    office.operator.pause(OPS, "default")
    office.enqueue()
    other = office.enqueue(queue="bulk")
    assert office.claim().id == other.id
    assert office.queue.claim(MAILER) is None


def test_a_job_whose_lease_ran_out_is_not_taken_over_but_given_back(office: Office) -> None:
    job = office.running()
    office.operator.pause(OPS, "default")
    office.lose_lease()
    assert office.queue.claim(PRINTER) is None
    assert office.get(job.id).status is JobStatus.RUNNING
    office.rescuer.run()
    assert office.get(job.id).status is JobStatus.PENDING


def test_what_runs_can_be_ended(office: Office) -> None:
    job = office.running()
    office.operator.pause(OPS, "default")
    office.clock.advance(10)
    assert office.queue.complete(MAILER, job.id).status is JobStatus.COMPLETED


def test_within_ten_seconds_everywhere(office: Office) -> None:
    for _ in range(4):
        office.enqueue()
    elsewhere = office.another_queue()
    assert elsewhere.claim(MAILER) is not None
    office.clock.advance(0.001)
    office.operator.pause(OPS, "default")
    office.clock.advance(9.998)
    assert elsewhere.claim(MAILER) is not None  # it may, and it need not ask
    office.clock.advance(0.001)
    assert elsewhere.claim(MAILER) is None
    office.operator.resume(OPS, "default")
    office.clock.advance(10)
    assert elsewhere.claim(MAILER) is not None


def test_the_flags_are_read_once_in_ten_seconds(office: Office) -> None:
    with office.calls() as calls:
        for _ in range(20):
            office.queue.claim(MAILER)
            office.clock.advance(0.49)
    assert calls["BatchGetItem"] == 1
    office.clock.advance(0.3)
    with office.calls() as calls:
        office.queue.claim(MAILER)
    assert calls["BatchGetItem"] == 1


def test_one_look_tells_of_all_queues(office: Office) -> None:
    with office.calls() as calls:
        for _ in range(5):
            office.queue.claim(MAILER, queues=["bulk"])
            office.queue.claim(MAILER, queues=["default"])
    assert calls["BatchGetItem"] == 1


def test_threads_that_claim_at_once_ask_once(office: Office) -> None:
    pauses = office.some_pauses()
    with office.calls() as calls, ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: pauses.open(("default", "bulk")), range(32)))
    assert set(opened) == {("default", "bulk")}
    assert calls == {"BatchGetItem": 1}


def test_a_clock_that_is_set_back_makes_no_pause_late(office: Office) -> None:
    assert office.queue.claim(MAILER) is None
    office.enqueue()
    office.operator.pause(OPS, "default")
    office.clock.advance(-3600)
    assert office.queue.claim(MAILER) is None


@pytest.mark.parametrize("paused", [True, False])
def test_flags_that_cannot_be_read_stay_as_they_are_known(office: Office, paused: bool) -> None:
    office.enqueue()
    office.enqueue()
    if paused:
        office.operator.pause(OPS, "default")
    assert (office.queue.claim(MAILER) is None) is paused
    office.clock.advance(11)
    with office.down("BatchGetItem"), office.calls() as calls:
        assert (office.queue.claim(MAILER) is None) is paused
        office.clock.advance(0.9)
        office.queue.claim(MAILER)
    assert calls["BatchGetItem"] == 4  # one look, as often as the SDK tries
    if paused:
        office.operator.resume(OPS, "default")
    else:
        office.operator.pause(OPS, "default")
    office.enqueue()
    office.clock.advance(0.1)
    assert (office.queue.claim(MAILER) is None) is not paused


def test_flags_that_nobody_ever_read_are_no_permission(office: Office) -> None:
    job = office.enqueue()
    with office.down("BatchGetItem"), pytest.raises(Unavailable):
        office.queue.claim(MAILER)
    assert office.get(job.id).status is JobStatus.PENDING
    assert office.claim().id == job.id


def leave_out(times: int) -> Callable[..., None]:
    """Let DynamoDB leave out some keys the first times."""
    left = times

    def leave(parsed: dict[str, Any], **_: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            taken = parsed["Responses"][QUEUES]
            parsed["Responses"][QUEUES] = []
            keys = [{"queue": item["queue"]} for item in taken]
            parsed["UnprocessedKeys"] = {QUEUES: {"Keys": keys}} if keys else {}

    return leave


@pytest.mark.parametrize("times", [1, 4, 5])
def test_keys_that_were_left_out_are_asked_for_again(
    office: Office, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("jobqueue.queues.time.sleep", slept.append)
    office.operator.pause(OPS, "default")
    leave = leave_out(times)
    office.client.meta.events.register("after-call.dynamodb.BatchGetItem", leave)
    try:
        if times == 5:
            with pytest.raises(Unavailable):
                office.queues.read(["default"])
        else:
            assert office.record().paused
            assert len(slept) == times
    finally:
        office.client.meta.events.unregister("after-call.dynamodb.BatchGetItem", leave)


def test_many_queues_are_read_in_portions(office: Office) -> None:
    names = [f"queue-{number}" for number in range(250)]
    office.queues.set_paused("queue-249", True)
    with office.calls() as calls:
        found = office.queues.read(names)
    assert calls == {"BatchGetItem": 3}
    assert [name for name, record in found.items() if record.paused] == ["queue-249"]
    assert list(found) == names


def test_pausing_twice_changes_nothing(office: Office) -> None:
    for _ in range(2):
        office.operator.pause(OPS, "default")
        assert office.record().paused
    with office.lost_reply("UpdateItem"):
        office.operator.resume(OPS, "default")
    assert not office.record().paused


@pytest.mark.parametrize("queue", ["nowhere", "", "DEFAULT", "bulk"])
def test_what_is_not_there_or_not_granted_is_not_paused(office: Office, queue: str) -> None:
    caller = admin("ops", "default")
    with office.calls() as calls:
        for operate in (office.operator.pause, office.operator.resume):
            with pytest.raises(QueueNotFound):
                operate(caller, queue)
    assert calls == {}


def test_a_worker_does_not_look_for_a_promised_job_of_a_paused_queue(office: Office) -> None:
    office.operator.pause(OPS, "default")
    job = office.enqueue()
    site = Site(office)
    assert site.work(promised={job.id}) == {}
    assert site.sleeps == []
