"""The events in events/, which `sam local invoke` is given too: each is good for its function."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue.api import dependencies
from jobqueue.keys import is_key
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.settings import Settings
from jobqueue.table import open_table
from jobtypes import JOB_TYPES
from tests.support.callers import admin, producer, worker
from tests.support.events import http_event, route
from tests.support.functions import declared
from tests.support.http import EMAIL, ENVIRONMENT, Stack
from tests.support.template import ROOT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOB_ID = "job_01M8N4C1RBB1Q714Z4VNBP87AS"
TOKEN = "kq3ZrV0yT5eWc8Lh1uXn2A"
EVENTS = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "events").glob("*.json")}
ROUTED = [
    name
    for name, function in declared().items()
    for event in function.get("Events", {}).values()
    if event["Type"] == "HttpApi" and event["Properties"]["Path"].startswith("/jobs")
]
HELD = {"complete_job", "fail_job", "heartbeat_job", "release_job", "complete_jobs"}


@pytest.fixture
def deployment(tables: DynamoDBClient, stack: Stack) -> Iterator[JobQueue]:
    """The deployment's own types of job, and the one job that the events are about."""
    queue = JobQueue(
        open_table(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=tables),
        JOB_TYPES,
        backoff=Backoff(base_seconds=5, cap_seconds=900),
        clock=stack.clock,
        new_id=lambda _: JOB_ID,
        new_token=lambda: TOKEN,
    )
    with dependencies.using(queue):
        yield queue


@pytest.mark.parametrize("function", ROUTED)
def test_each_event_is_answered_well(deployment: JobQueue, stack: Stack, function: str) -> None:
    if not function.startswith("enqueue_job"):
        deployment.enqueue(producer("shop"), NewJob(type="email", payload=EMAIL))
    if function in HELD:
        deployment.claim(worker("mailer"))
    if function == "retry_job":
        deployment.cancel(admin("ops"), JOB_ID)
    answer = stack.send(function, EVENTS[function])
    assert answer.status == (201 if function == "enqueue_job" else 200), answer.text
    results: list[dict[str, Any]] = answer.json.get("results", [])
    assert all(result["status"] < 300 for result in results)


@pytest.mark.parametrize("function", ROUTED)
def test_each_event_is_whole(function: str) -> None:
    event = EVENTS[function]
    method, path = route(function)
    assert event["routeKey"] == event["requestContext"]["routeKey"] == f"{method} {path}"
    assert event["requestContext"]["http"]["method"] == method
    assert event["rawPath"] == event["requestContext"]["http"]["path"] == path.replace("{id}", JOB_ID)
    built = http_event(function, JOB_ID if "{id}" in path else None, body=event.get("body"))
    assert event.keys() - {"queryStringParameters"} == built.keys()
    assert set(event["requestContext"]["authorizer"]["lambda"]) == {
        "principal",
        "role",
        "queues",
        "max_priority",
    }


def test_no_event_holds_a_key_that_works() -> None:
    for event in EVENTS.values():
        for word in json.dumps(event).replace('"', " ").split():
            assert not is_key(word) or "EXAMPLE" in word
