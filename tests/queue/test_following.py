"""What the follower of the stream makes of each change: what happened, and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jobqueue.changes import Happened, read_change
from jobqueue.errors import CorruptItem
from tests.support.emf import told, total, values
from tests.support.office import Office
from tests.support.workshop import JOBS, MAILER, OPS, PRINTER, SHOP

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOTE = {"queue": "default", "type": "note"}


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def happened(office: Office) -> list[Happened | None]:
    office.bus.told.clear()
    office.follow()
    return [change.happened for change in office.bus.told]


def test_what_happens_in_a_life(office: Office) -> None:
    job = office.enqueue()
    assert happened(office) == [Happened.ENQUEUED]
    office.claim()
    assert happened(office) == [Happened.CLAIMED]
    office.queue.extend(MAILER, job.id, lease_seconds=300)
    assert happened(office) == [None]
    office.queue.release(MAILER, job.id)
    assert happened(office) == [Happened.RELEASED]
    office.claim()
    office.queue.fail(MAILER, job.id, retry_in_seconds=0)
    assert happened(office) == [Happened.CLAIMED, Happened.RETRIED]
    office.claim()
    office.queue.cancel(SHOP, job.id)
    office.queue.fail(MAILER, job.id)
    assert happened(office) == [Happened.CLAIMED, None, Happened.CANCELLED]
    office.queue.retry(OPS, job.id)
    assert happened(office) == [Happened.REVIVED]
    office.claim()
    office.queue.fail(MAILER, job.id, discard=True)
    assert happened(office) == [Happened.CLAIMED, Happened.FAILED]
    office.queue.retry(OPS, job.id)
    office.claim()
    office.queue.complete(MAILER, job.id)
    assert happened(office) == [Happened.REVIVED, Happened.CLAIMED, Happened.COMPLETED]
    office.client.delete_item(TableName=JOBS, Key={"id": {"S": job.id}})
    assert happened(office) == [None]


def test_a_key_that_is_used_again_after_its_time_is_a_new_job(office: Office) -> None:
    office.enqueue(idempotency_key="k")
    office.queue.complete(MAILER, office.claim().id)
    happened(office)
    office.clock.advance(8 * 86_400)
    office.enqueue(idempotency_key="k")
    assert happened(office) == [Happened.ENQUEUED]


def test_a_lease_that_ran_out_is_told_from_a_failure(office: Office) -> None:
    office.running(max_retries=1)
    office.lose_lease()
    office.rescuer.run()
    office.clock.advance(3600)
    job = office.claim()
    office.queue.release(MAILER, job.id)
    office.claim()
    office.queue.fail(MAILER, job.id, error="lease expired")
    office.follow()
    ended = {Happened.RETRIED, Happened.RELEASED, Happened.FAILED}
    assert [(one.happened, one.lease_ran_out) for one in office.bus.told if one.happened in ended] == [
        (Happened.RETRIED, True),
        (Happened.RELEASED, False),
        (Happened.FAILED, False),
    ]


def test_a_takeover_is_told_as_such(office: Office) -> None:
    job = office.running()
    office.lose_lease()
    happened(office)
    office.claim(PRINTER)
    assert happened(office) == [Happened.TAKEN_OVER]
    (change,) = office.bus.told
    assert change.lease_ran_out
    assert change.after is not None
    assert (change.after.worker_id, change.after.retry_count) == ("key:printer", 1)
    assert (change.waited, change.ran) == (None, None)
    # the error of the lost lease stays on the job, and what its new holder does has nothing to do with it
    office.queue.extend(PRINTER, job.id, lease_seconds=300)
    office.queue.cancel(SHOP, job.id)
    assert happened(office) == [None, None]
    assert not any(change.lease_ran_out for change in office.bus.told)


def test_numbers_of_a_life(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue(max_retries=1)
    office.clock.advance(2.5)
    job = office.claim()
    office.clock.advance(4)
    office.queue.fail(MAILER, job.id, retry_in_seconds=10)
    office.clock.advance(11)
    office.claim()
    office.clock.advance(0.25)
    office.queue.complete(MAILER, job.id)
    capsys.readouterr()
    office.follow()
    log = capsys.readouterr().out
    counts = {name: total(log, name, **NOTE) for name in ("Enqueued", "Claimed", "Retried", "Completed")}
    assert counts == {"Enqueued": 1, "Claimed": 2, "Retried": 1, "Completed": 1}
    assert values(log, "WaitSeconds", **NOTE) == [2.5, 1]
    assert values(log, "RunSeconds", **NOTE) == [4, 0.25]
    assert {one.metric for one in told(log)} & {"Failed", "Rescued"} == set()


def test_numbers_of_a_lost_lease(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.running(max_retries=0)
    office.lose_lease()
    office.rescuer.run()
    capsys.readouterr()
    office.follow()
    log = capsys.readouterr().out
    assert (total(log, "Failed"), total(log, "Rescued")) == (1, 1)
    assert values(log, "RunSeconds", **NOTE) == []


def test_numbers_of_a_takeover(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.running()
    office.lose_lease()
    capsys.readouterr()
    job = office.claim(PRINTER)
    office.queue.extend(PRINTER, job.id, lease_seconds=300)
    office.follow()
    log = capsys.readouterr().out
    counts = {name: total(log, name, **NOTE) for name in ("Enqueued", "Claimed", "Retried", "Rescued")}
    assert counts == {"Enqueued": 1, "Claimed": 2, "Retried": 1, "Rescued": 1}
    assert values(log, "WaitSeconds", **NOTE) == [0]
    assert values(log, "RunSeconds", **NOTE) == []
    assert office.counts() == {"running": 1}


def test_lost_races(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue()
    elsewhere = office.another_queue()
    with office.just_before("UpdateItem", lambda: elsewhere.claim(PRINTER)):
        assert office.queue.claim(MAILER) is None
    assert total(capsys.readouterr().out, "LostRaces", **NOTE) == 1


def test_replayed_enqueues(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        office.enqueue(idempotency_key="k")
    assert total(capsys.readouterr().out, "Replayed", **NOTE) == 2


def test_a_batch_that_comes_again_is_measured_once(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.enqueue()
    records = office.records()
    for _ in range(3):
        office.follower.follow(records)
    assert total(capsys.readouterr().out, "Enqueued", **NOTE) == 1


def test_names_that_are_not_declared_any_more(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    job = office.enqueue()
    office.records()
    office.spoil(job.id, type="removed")
    office.queue.complete(MAILER, office.claim().id)
    office.follow()
    assert total(capsys.readouterr().out, "Completed", queue="default", type="other") == 1


@pytest.mark.parametrize("name", ["status", "priority", "lane", "updated_at"])
def test_a_record_of_no_job(office: Office, name: str) -> None:
    office.enqueue()
    (record,) = office.records()
    image = {key: value for key, value in record["dynamodb"]["NewImage"].items() if key != name}
    broken = {**record, "dynamodb": {**record["dynamodb"], "NewImage": image}}
    with pytest.raises(CorruptItem):
        read_change(broken)
    assert office.follower.follow([broken]) is None
