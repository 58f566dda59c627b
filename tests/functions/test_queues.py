"""GET /queues, POST /queues/{queue}/pause, /resume and /retry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jobqueue.job import JobPriority
from jobqueue.principal import Principal
from tests.support.botofaults import Fault, Faults
from tests.support.callers import admin, producer, worker
from tests.support.events import route
from tests.support.http import Stack
from tests.support.lambdas import event
from tests.support.log import log_lines

STEERING = ("pause_queue", "resume_queue", "retry_jobs")
NOTHING = {
    "pending": {"low": 0, "medium": 0, "high": 0, "critical": 0},
    **dict.fromkeys(("running", "completed", "failed", "cancelled"), 0),
}


def queues(stack: Stack, caller: Principal | None = None) -> dict[str, dict[str, Any]]:
    answer = stack.call("list_queues", caller=caller or admin())
    assert answer.status == 200, answer.text
    assert answer.json.keys() == {"queues"}
    return {queue["name"]: queue for queue in answer.json["queues"]}


def body(function: str) -> dict[str, str]:
    return {"status": "failed"} if function == "retry_jobs" else {}


def failed(stack: Stack, count: int = 1, **fields: Any) -> list[str]:
    ids = []
    for _ in range(count):
        ids.append(stack.enqueue(max_retries=0, **fields))
        job = stack.claim()
        assert stack.call("fail_job", job["id"], caller=worker()).status == 200
    return ids


@pytest.mark.parametrize("caller", [producer(), worker(), admin()], ids=["producer", "worker", "admin"])
def test_everybody_sees_the_queues(stack: Stack, caller: Principal) -> None:
    seen = queues(stack, caller)
    assert sorted(seen) == ["default", "emails", "reports"]
    assert seen["default"] == {
        "name": "default",
        "paused": False,
        "counts": NOTHING,
        "oldest_pending_at": None,
        "oldest_age_seconds": None,
    }


def test_only_queues_that_are_granted(stack: Stack) -> None:
    assert sorted(queues(stack, producer("shop", "emails"))) == ["emails"]


def test_the_oldest_job(stack: Stack) -> None:
    stack.enqueue(producer(max_priority=JobPriority.CRITICAL), priority="critical")
    stack.clock.advance(90.9)
    seen = queues(stack)["default"]
    assert seen["oldest_pending_at"] == "2026-11-30T02:26:02.123456Z"
    assert seen["oldest_age_seconds"] == 90


def test_an_unknown_parameter(stack: Stack) -> None:
    answer = stack.call("list_queues", caller=admin(), query={"queue": "default"})
    assert (answer.status, answer.fields) == (422, {"query.queue": "unknown_field"})


def test_pause_and_resume(stack: Stack) -> None:
    job_id = stack.enqueue()
    for function, paused in (("pause_queue", True), ("resume_queue", False)):
        for _ in range(2):
            answer = stack.call(function, queue="default", caller=admin())
            assert (answer.status, answer.json) == (200, {"name": "default", "paused": paused})
            assert queues(stack)["default"]["paused"] is paused
        stack.clock.advance(10)
        if paused:
            assert stack.call("claim_job", caller=worker()).status == 204
    assert stack.claim()["id"] == job_id


def test_a_batch_claim_of_a_paused_queue(stack: Stack) -> None:
    stack.enqueue()
    stack.call("pause_queue", queue="default", caller=admin())
    answer = stack.call("claim_jobs", caller=worker(), body={"max_jobs": 5})
    assert (answer.status, answer.json) == (200, {"jobs": []})


def test_flags_that_were_never_read_and_cannot_be(stack: Stack) -> None:
    stack.enqueue()
    with Faults.of(stack.client).on("BatchGetItem", Fault.UNREACHED, times=None):
        answer = stack.call("claim_job", caller=worker())
    assert (answer.status, answer.problem) == (503, "unavailable")
    assert "retry-after" in answer.headers


@pytest.mark.parametrize("function", STEERING)
@pytest.mark.parametrize("caller", [producer(), worker()], ids=["producer", "worker"])
def test_only_admins_steer(stack: Stack, function: str, caller: Principal) -> None:
    answer = stack.call(function, queue="default", caller=caller, body=body(function))
    assert (answer.status, answer.problem) == (403, "role-not-allowed")


@pytest.mark.parametrize("function", STEERING)
@pytest.mark.parametrize("queue", ["nowhere", "reports", "a b", "../default", "\U0001f600", "x" * 300])
def test_queues_that_are_not_there_or_not_granted(stack: Stack, function: str, queue: str) -> None:
    answer = stack.call(function, queue=queue, caller=admin("ops", "default"), body=body(function))
    assert (answer.status, answer.problem) == (404, "queue-not-found")


def test_retry_in_bulk(stack: Stack) -> None:
    ids = failed(stack, 3)
    first = stack.call("retry_jobs", queue="default", caller=admin(), body={"status": "failed", "limit": 2})
    assert (first.status, first.json) == (200, {"retried": 2, "skipped": 0, "more": True})
    second = stack.call("retry_jobs", queue="default", caller=admin(), body={"status": "failed", "limit": 2})
    assert second.json == {"retried": 1, "skipped": 0, "more": False}
    assert {stack.read(job_id).status.value for job_id in ids} == {"pending"}


def test_each_job_that_is_retried_has_its_line(stack: Stack) -> None:
    ids = failed(stack, 2)
    with log_lines() as lines:
        stack.call("retry_jobs", queue="default", caller=admin("ops"), body={"status": "failed"})
    told = [line for line in lines if "job_id" in line]
    assert {line["job_id"] for line in told} == set(ids)
    assert {
        (line["action"], line["outcome"], line["job_type"], line["queue"], line["attempt"], line["principal"])
        for line in told
    } == {("retry_jobs", "pending", "note", "default", 1, "key:ops")}


def test_25_are_retried_unless_told_otherwise(stack: Stack) -> None:
    failed(stack, 26)
    answer = stack.call("retry_jobs", queue="default", caller=admin(), body={"status": "failed"})
    assert answer.json == {"retried": 25, "skipped": 0, "more": True}


def test_retry_of_one_type_until_a_time(stack: Stack) -> None:
    (early,) = failed(stack)
    (other,) = failed(stack, type="report", queue="default")
    stack.clock.advance(60)
    (late,) = failed(stack)
    wanted = {"status": "failed", "type": "note", "finished_before": "2026-11-30T03:26:32+01:00"}
    answer = stack.call("retry_jobs", queue="default", caller=admin(), body=wanted)
    assert answer.json == {"retried": 1, "skipped": 0, "more": False}
    found = {job_id: stack.read(job_id).status.value for job_id in (early, other, late)}
    assert found == {early: "pending", other: "failed", late: "failed"}


@pytest.mark.parametrize(
    "edge, retried", [("0001-01-01T00:00:00+01:00", 0), ("9999-12-31T23:59:59-01:00", 1)]
)
def test_a_time_at_the_edge_of_the_calendar(stack: Stack, edge: str, retried: int) -> None:
    stack.enqueue(max_retries=0)
    stack.call("fail_job", stack.claim()["id"], caller=worker(), body={})
    stack.clock.advance(1)
    wanted = {"status": "failed", "finished_before": edge}
    answer = stack.call("retry_jobs", queue="default", caller=admin(), body=wanted)
    assert (answer.status, answer.json["retried"]) == (200, retried)


@pytest.mark.parametrize(
    "sent, fields",
    [
        ({}, {"status": "missing"}),
        ({"status": "running"}, {"status": "unknown_value"}),
        ({"status": "FAILED"}, {"status": "unknown_value"}),
        ({"status": "failed", "limit": 0}, {"limit": "out_of_range"}),
        ({"status": "failed", "limit": 101}, {"limit": "out_of_range"}),
        ({"status": "failed", "limit": 1.0}, {"limit": "wrong_type"}),
        ({"status": "failed", "limit": True}, {"limit": "wrong_type"}),
        ({"status": "failed", "type": "nothing"}, {"type": "unknown_type"}),
        ({"status": "failed", "type": "\ud83d"}, {"type": "invalid_unicode"}),
        ({"status": "failed", "finished_before": "yesterday"}, {"finished_before": "malformed"}),
        (
            {"status": "failed", "finished_before": "2026-11-30T02:26:02"},
            {"finished_before": "no_time_zone"},
        ),
        (
            {"status": "failed", "queue": "default", "max": 1},
            {"queue": "unknown_field", "max": "unknown_field"},
        ),
    ],
)
def test_what_a_retry_does_not_take(stack: Stack, sent: dict[str, Any], fields: dict[str, str]) -> None:
    answer = stack.call("retry_jobs", queue="default", caller=admin(), body=json.dumps(sent))
    assert (answer.status, answer.fields) == (422, fields)


@pytest.mark.parametrize("function", ["pause_queue", "resume_queue"])
def test_a_body_that_steers_nothing(stack: Stack, function: str) -> None:
    answer = stack.call(function, queue="default", caller=admin(), body={"paused": True})
    assert (answer.status, answer.fields) == (422, {"paused": "unknown_field"})
    assert not queues(stack)["default"]["paused"]


@pytest.mark.parametrize("function", STEERING)
def test_the_log_tells_who_steered_which_queue(stack: Stack, function: str) -> None:
    with log_lines() as lines:
        stack.call(function, queue="emails", caller=admin("ops"), body=body(function))
    (line,) = lines
    told = {name: line[name] for name in ("action", "outcome", "principal", "queue")}
    assert told == {"action": function, "outcome": "ok", "principal": "key:ops", "queue": "emails"}


@pytest.mark.parametrize("function", ["list_queues", *STEERING])
def test_the_event_of_each_function(stack: Stack, function: str) -> None:
    sent = event(function)
    method, path = route(function)
    assert sent["routeKey"] == sent["requestContext"]["routeKey"] == f"{method} {path}"
    assert sent["rawPath"] == sent["requestContext"]["http"]["path"] == path.replace("{queue}", "default")
    assert stack.send(function, sent).status == 200
