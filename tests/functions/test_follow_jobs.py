"""The functions that watch: started by the table's stream, and every minute."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from jobqueue.errors import InvalidSettings
from tests.support.emf import total, values
from tests.support.http import Stack
from tests.support.lambdas import Context, event
from tests.support.log import log_lines

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

FUNCTIONS = {"follow_jobs": "follower", "measure_queues": "measurer"}


@pytest.fixture(autouse=True)
def opened_anew() -> None:
    for function, opener in FUNCTIONS.items():
        getattr(import_module(f"functions.{function}.app"), opener).cache_clear()


def run(function: str, sent: dict[str, Any] | None = None) -> Any:
    return import_module(f"functions.{function}.app").lambda_handler(sent or event(function), Context())


@pytest.fixture(scope="module")
def a_bus(tables: DynamoDBClient) -> str:
    boto3.client("events").create_event_bus(Name="jobqueue-jobs")
    return "jobqueue-jobs"


@pytest.fixture
def bus(a_bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENT_BUS", a_bus)


def test_a_change_is_announced_counted_and_measured(
    stack: Stack, bus: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with log_lines() as lines:
        assert run("follow_jobs") == {"batchItemFailures": []}
    assert [(line["action"], line["outcome"], line["items"]) for line in lines] == [("follow_jobs", "ok", 1)]
    log = capsys.readouterr().out
    assert total(log, "Completed", queue="default", type="email") == 1
    assert values(log, "RunSeconds", queue="default", type="email") == [0.6]
    (item,) = stack.client.scan(TableName="queues")["Items"]
    assert (item["running"], item["completed"]) == ({"N": "-1"}, {"N": "1"})


def test_where_the_stream_must_go_on_is_answered(
    stack: Stack, bus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = event("follow_jobs")
    number = sent["Records"][0]["dynamodb"]["SequenceNumber"]
    monkeypatch.setattr("jobqueue.announcing.EventBus.announce", lambda *_: 0)
    assert run("follow_jobs", sent) == {"batchItemFailures": [{"itemIdentifier": number}]}
    assert stack.client.scan(TableName="queues")["Items"] == []


def test_a_function_without_a_bus_does_not_start(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENT_BUS", raising=False)
    with pytest.raises(InvalidSettings, match="EVENT_BUS"):
        run("follow_jobs")


def test_queues_are_measured(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    stack.enqueue(type="email", queue="default", payload={"to": "a@example.com", "subject": "S", "body": "B"})
    with log_lines() as lines:
        run("measure_queues")
        run("measure_queues")
    assert [line["outcome"] for line in lines if line["outcome"] != "corrected"] == ["ok", "ok"]
    assert {(line["counter"], line["by"]) for line in lines if line["outcome"] == "corrected"} == {
        ("pending_low", 1)
    }
    assert values(capsys.readouterr().out, "Depth", queue="default", priority="low")[-1] in {0, 1}
