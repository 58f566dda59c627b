"""A caller that sends more requests than it may: what it is answered, and what that does not touch."""

from __future__ import annotations

from typing import Any

import pytest

from jobqueue.api import dependencies
from jobqueue.errors import InvalidSettings
from jobqueue.keys import create_key
from tests.support.callers import admin, producer, worker
from tests.support.deployed import deployed_settings
from tests.support.events import http_event
from tests.support.faults import counted, throttled
from tests.support.functions import declared
from tests.support.http import Stack
from tests.support.log import log_lines
from tests.support.starting import printed_by

ONE_A_WINDOW = 0.1
BEHIND_THE_AUTHORIZER = sorted(
    name
    for name, function in declared().items()
    if any(
        event["Type"] == "HttpApi" and event["Properties"].get("Auth") is None
        for event in function.get("Events", {}).values()
    )
)
LIMIT = {"CALLER_THROTTLE_RATE": "0.1", "CALLERS_TABLE": "callers"}
NOTE = {"type": "note"}


def test_there_are_functions_to_limit() -> None:
    assert len(BEHIND_THE_AUTHORIZER) == 17


def test_one_request_too_many_is_told_when_to_come_again(stack: Stack) -> None:
    with stack.limiting(per_second=0.3):
        assert [stack.call("list_jobs", caller=producer()).status for _ in range(3)] == [200] * 3
        stack.clock.advance(5)
        answer = stack.call("list_jobs", caller=producer())
        assert (answer.status, answer.problem) == (429, "too-many-requests")
        assert answer.json["title"] == "Too many requests"
        assert answer.headers["retry-after"] == "3"
        stack.clock.advance(int(answer.headers["retry-after"]))
        assert stack.call("list_jobs", caller=producer()).status == 200


@pytest.mark.parametrize("function", BEHIND_THE_AUTHORIZER)
def test_every_function_counts_and_refuses(stack: Stack, function: str) -> None:
    with stack.limiting(ONE_A_WINDOW):
        first, second = (stack.call(function, caller=admin()) for _ in range(2))
        assert first.status != 429
        assert (second.status, second.problem) == (429, "too-many-requests")
        assert list(stack.counts().values()) == [1]
        assert stack.call(function, caller=admin("another")).status == first.status


def test_all_functions_count_together(stack: Stack) -> None:
    with stack.limiting(per_second=0.2):
        stack.call("get_job", "job_nope", caller=admin())
        stack.call("list_queues", caller=admin())
        assert stack.call("list_jobs", caller=admin()).status == 429


def test_what_the_role_forbids_is_counted(stack: Stack) -> None:
    with stack.limiting(ONE_A_WINDOW):
        assert stack.call("enqueue_job", caller=worker(), body=NOTE).problem == "role-not-allowed"
        assert stack.call("claim_job", caller=worker()).status == 429
        assert stack.call("enqueue_job", caller=worker(), body=NOTE).problem == "too-many-requests"


@pytest.mark.parametrize("function", BEHIND_THE_AUTHORIZER)
def test_nobody_is_counted_who_is_nobody(stack: Stack, function: str) -> None:
    with stack.limiting(ONE_A_WINDOW), counted(stack.client) as sent:
        for _ in range(3):
            assert stack.send(function, http_event(function)).problem == "unauthenticated"
    assert sent.total() == 0


def test_a_refused_request_changes_nothing(stack: Stack) -> None:
    job_id = stack.enqueue()
    held = stack.claim()["lease_token"]
    before = stack.items()
    calls: list[tuple[str, Any, Any]] = [
        ("enqueue_job", producer(), NOTE),
        ("enqueue_jobs", producer(), {"jobs": [NOTE]}),
        ("cancel_job", producer(), None),
        ("claim_job", worker(), None),
        ("complete_job", worker(), {"lease_token": held}),
        ("complete_jobs", worker(), {"jobs": [{"id": job_id, "lease_token": held}]}),
        ("fail_job", worker(), {"lease_token": held}),
        ("heartbeat_job", worker(), {"lease_token": held, "lease_seconds": 600}),
        ("release_job", worker(), {"lease_token": held}),
    ]
    with stack.limiting(ONE_A_WINDOW) as throttle:
        for caller in (producer(), worker()):
            throttle.admit(caller.id)
        for function, caller, body in calls:
            path_id = job_id if "{id}" in http_event(function)["routeKey"] else None
            assert stack.call(function, path_id, caller=caller, body=body).status == 429, function
    assert stack.items() == before
    assert stack.call("complete_job", job_id, caller=worker(), body={"lease_token": held}).status == 200


@pytest.mark.parametrize("body", ["{", "x" * 200_000, b'{"type": "note", "type": "note"}'])
def test_the_body_of_a_refused_request_is_not_looked_at(stack: Stack, body: Any) -> None:
    refused = stack.call("enqueue_job", caller=producer(), body=body)
    assert refused.status in (400, 413)
    with stack.limiting(ONE_A_WINDOW) as throttle:
        throttle.admit(producer().id)
        assert stack.call("enqueue_job", caller=producer(), body=body).status == 429


def test_a_flood_asks_the_tables_for_nothing(stack: Stack) -> None:
    with stack.limiting(ONE_A_WINDOW), counted(stack.client) as sent:
        answers = [stack.call("list_jobs", caller=producer()).status for _ in range(50)]
    assert answers == [200] + [429] * 49
    assert sent["UpdateItem"] == 2


def test_an_api_key_is_one_caller_whatever_it_calls(stack: Stack) -> None:
    key = create_key("shop", role="producer")
    with stack.limiting(ONE_A_WINDOW):
        assert stack.call("list_jobs", caller=key).status == 200
        assert stack.call("enqueue_job", caller=key, body=NOTE).status == 429
    ((name, count),) = stack.counts().items()
    assert name.rpartition("#")[0] == "key:shop"
    assert count == 1


def test_what_cannot_be_counted_is_503_and_not_done(stack: Stack) -> None:
    with stack.limiting(10):
        with counted(stack.client) as sent, throttled(stack.client):
            answer = stack.call("enqueue_job", caller=producer(), body=NOTE)
        assert (answer.status, answer.problem) == (503, "unavailable")
        assert answer.headers["retry-after"] == "2"
        assert sent.keys() == {"UpdateItem"}
        assert stack.items() == []
        assert stack.call("enqueue_job", caller=producer(), body=NOTE).status == 201


def test_a_refusal_is_one_line_that_names_the_caller(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    with stack.limiting(ONE_A_WINDOW) as throttle, log_lines() as lines:
        throttle.admit("key:shop")
        stack.call("get_job", "job_nope", caller=producer("shop"))
    (line,) = lines
    told = {name: line[name] for name in ("level", "action", "outcome", "status", "principal")}
    assert told == {
        "level": "INFO",
        "action": "get_job",
        "outcome": "too-many-requests",
        "status": 429,
        "principal": "key:shop",
    }
    assert "CloudWatchMetrics" not in capsys.readouterr().out  # a metric of each caller would cost, each


def test_where_callers_are_not_limited_nothing_is_counted_or_asked(stack: Stack) -> None:
    assert dependencies.throttle() is None
    with counted(stack.client) as sent:
        for _ in range(30):
            assert stack.call("enqueue_job", caller=producer(), body=NOTE).status == 201
    assert sent == {"PutItem": 30}
    assert stack.counts() == {}


@pytest.mark.parametrize(
    ("environment", "is_loaded"), [({}, False), ({"CALLER_THROTTLE_RATE": "0"}, False), (LIMIT, True)]
)
def test_what_limits_is_loaded_only_where_it_is_needed(environment: dict[str, str], is_loaded: bool) -> None:
    code = """
import sys, functions.list_jobs.app
from jobqueue.api.dependencies import throttle
print((throttle() is not None, *(f"jobqueue.{name}" in sys.modules for name in ("throttle", "callers"))))
"""
    assert printed_by(code, **environment) == str((is_loaded,) * 3)


def test_a_deployment_limits_as_its_environment_says(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LIMIT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    with deployed_settings():
        dependencies.open_early()
        opened = dependencies.throttle()
        assert opened is not None
        answers = {stack.call("list_jobs", caller=producer()).status for _ in range(3)}
        assert answers == {200, 429}  # in three requests at once there are two of one window
        assert dependencies.throttle() is opened


@pytest.mark.parametrize("wrong", [{"CALLER_THROTTLE_RATE": "much"}, {"CALLERS_TABLE": ""}])
def test_a_function_whose_limit_is_wrong_does_not_start(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    for name, value in (LIMIT | wrong).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    with deployed_settings():
        with pytest.raises(InvalidSettings):
            dependencies.open_early()
        answer = stack.call("list_jobs", caller=producer())
    assert (answer.status, answer.problem) == (500, "internal-error")
