"""Which changes of the table reach the follower: all that it has something to say about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue.changes import Happened, read_change
from tests.support.filters import matches
from tests.support.functions import declared
from tests.support.office import Office
from tests.support.workshop import JOBS, MAILER, OPS, PRINTER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def passes(record: dict[str, Any]) -> bool:
    """Tell whether the event source of follow_jobs lets a record through."""
    (source,) = declared()["follow_jobs"]["Events"].values()
    filters = source["Properties"]["FilterCriteria"]["Filters"]
    return any(matches(record, json.loads(one["Pattern"])) for one in filters)


def test_whatever_happens_reaches_the_follower(office: Office) -> None:
    job = office.running()
    office.lose_lease()
    office.claim(PRINTER)
    office.queue.extend(PRINTER, job.id, lease_seconds=300)
    office.queue.release(PRINTER, job.id)
    office.claim()
    office.queue.fail(MAILER, job.id, discard=True)
    office.queue.retry(OPS, job.id)
    office.queue.cancel(OPS, job.id)
    office.client.delete_item(TableName=JOBS, Key={"id": {"S": job.id}})
    office.queue.complete(MAILER, office.running().id)
    changes = [(read_change(record), passes(record)) for record in office.records()]
    assert {change.happened for change, _ in changes} >= set(Happened) - {Happened.RETRIED}
    assert [change.happened for change, passed in changes if not passed and change.happened] == []
    # the counters need to know what is gone, too
    assert [passed for change, passed in changes if change.after is None] == [True]


def test_a_lease_that_is_extended_does_not(office: Office) -> None:
    job = office.running()
    office.records()
    office.queue.extend(MAILER, job.id, lease_seconds=300, progress=1)
    (record,) = office.records()
    assert not passes(record)
