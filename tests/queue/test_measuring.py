"""Depth and age once a minute, as CloudWatch reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jobqueue.job import JobPriority
from tests.support.emf import told, total, values
from tests.support.office import Office
from tests.support.workshop import MAILER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def measured(office: Office, capsys: pytest.CaptureFixture[str]) -> str:
    """Let a minute pass and return what is told after it."""
    office.follow()
    capsys.readouterr()
    office.measure()
    return capsys.readouterr().out


def test_depth_and_age_by_queue_and_priority(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue(priority=JobPriority.HIGH)
    office.clock.advance(30)
    office.enqueue(priority=JobPriority.HIGH)
    office.enqueue(queue="bulk")
    office.enqueue(queue="bulk", delay_seconds=3600)
    log = measured(office, capsys)
    assert values(log, "Depth", queue="default", priority="high") == [2]
    assert values(log, "OldestAgeSeconds", queue="default", priority="high") == [90]
    assert values(log, "Depth", queue="bulk", priority="low") == [2]
    assert values(log, "OldestAgeSeconds", queue="bulk", priority="low") == [60]
    assert sorted(values(log, "OldestAgeSeconds")) == [60, 90]


def test_a_delayed_job_has_no_age_until_it_is_due(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue(delay_seconds=90)
    assert values(measured(office, capsys), "OldestAgeSeconds", queue="default", priority="low") == [0]
    assert values(measured(office, capsys), "OldestAgeSeconds", queue="default", priority="low") == [30]


def test_an_idle_deployment_pays_for_no_metric(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(measured(office, capsys)) == []


def test_a_lane_that_is_empty_now_is_told_once(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue()
    assert total(measured(office, capsys), "Depth", queue="default", priority="low") == 1
    office.queue.complete(MAILER, office.claim().id)
    log = measured(office, capsys)
    assert values(log, "Depth", queue="default", priority="low") == [0]
    assert values(log, "OldestAgeSeconds", queue="default", priority="low") == [0]
    assert told(measured(office, capsys)) == []


def test_the_age_does_not_depend_on_counts(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.enqueue()
    office.records()
    log = measured(office, capsys)
    assert values(log, "OldestAgeSeconds", queue="default", priority="low") == [60]
    assert values(log, "Depth", queue="default", priority="low") == [0]


def test_a_minute_costs_the_same_however_long_it_goes_on(office: Office) -> None:
    office.enqueue()
    office.follow()
    costs = []
    for _ in range(3):
        with office.calls() as calls:
            office.measure()
        costs.append(calls)
    looks, recounts = 2 * len(JobPriority), 2 * 8
    assert costs == 3 * [{"BatchGetItem": 1, "Query": looks + recounts}]
