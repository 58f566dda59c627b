"""POST /jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.job import JobPriority
from tests.support.callers import admin, producer, worker
from tests.support.clock import START
from tests.support.http import EMAIL, Stack, moment

WRONG_TYPES: dict[str, list[Any]] = {
    "type": [None, 3, True, [], {}],
    "payload": [None, "{}", [], 1],
    "queue": [1, [], True],
    "priority": [None, 0, True, 10, ["low"]],
    "max_retries": ["3", True, 3.0, 1.5, []],
    "delay_seconds": ["3", False, 3.0, {}],
    "run_at": [1796005562, True, 1.5, []],
    "idempotency_key": [1, True, [], {}],
}


def test_a_job_is_made_and_told_where_it_is(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=producer("shop"), body={"type": "email", "payload": EMAIL})
    assert answer.status == 201
    job_id = answer.json["id"]
    assert answer.headers["location"] == f"/jobs/{job_id}"
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {
        "id": job_id,
        "type": "email",
        "queue": "emails",
        "priority": "low",
        "status": "pending",
        "retry_count": 0,
        "max_retries": 3,
        "available_at": "2026-11-30T02:26:02.123456Z",
        "created_by": "key:shop",
        "created_at": "2026-11-30T02:26:02.123456Z",
        "updated_at": "2026-11-30T02:26:02.123456Z",
        "worker_id": None,
        "claimed_at": None,
        "finished_at": None,
        "lease_expires_at": None,
        "cancel_requested": False,
        "progress": None,
        "payload": EMAIL,
        "result": None,
        "idempotency_key": None,
    }
    assert stack.read(job_id).payload == EMAIL


@pytest.mark.parametrize("priority", ["low", "Medium", "HIGH", "critical"])
def test_priority_in_any_case(stack: Stack, priority: str) -> None:
    body = {"type": "note", "priority": priority}
    answer = stack.call("enqueue_job", caller=admin(), body=body)
    assert answer.status == 201
    assert answer.json["priority"] == priority.lower()


@pytest.mark.parametrize("key", ["k1", "a key with spaces", "ключ", "'quoted'"])
def test_a_known_key_answers_the_first_job(stack: Stack, key: str) -> None:
    body = {"type": "note", "payload": {"n": 1}, "idempotency_key": key}
    first = stack.call("enqueue_job", caller=producer(), body=body)
    again = stack.call("enqueue_job", caller=producer(), body=body)
    assert (first.status, again.status) == (201, 200)
    assert again.json["id"] == first.json["id"]
    assert again.json["idempotency_key"] == key
    assert len(stack.items()) == 1


@pytest.mark.parametrize("more", [{}, {"delay_seconds": 60}], ids=["at once", "delayed"])
def test_fault_6_a_key_that_is_used_for_something_else(stack: Stack, more: dict[str, Any]) -> None:
    first = {"type": "email", "idempotency_key": "K", "payload": EMAIL, **more}
    other = {**first, "payload": {**EMAIL, "to": "b@example.com"}}
    spelled_out = {
        "max_retries": 3,
        "priority": "LOW",
        "queue": "emails",
        **dict(reversed(first.items())),
        "payload": dict(reversed(EMAIL.items())),
        "run_at": None,
    }
    made = stack.call("enqueue_job", caller=producer(), body=first)
    reused = stack.call("enqueue_job", caller=producer(), body=other)
    stack.clock.advance(5)
    again = stack.call("enqueue_job", caller=producer(), body=spelled_out)
    assert (made.status, reused.status, again.status) == (201, 422, 200)
    assert reused.problem == "idempotency-key-reused"
    assert again.json == made.json
    assert made.json["id"] not in reused.text
    assert "example.com" not in reused.text
    assert len(stack.items()) == 1


@pytest.mark.parametrize(
    ("header", "value"),
    [("Idempotency-Key", "k1"), ("idempotency-key", '"k1"'), ("IDEMPOTENCY-KEY", ' "k1" ')],
)
def test_the_header_is_the_same_as_the_member(stack: Stack, header: str, value: str) -> None:
    first = stack.call("enqueue_job", caller=producer(), body={"type": "note", "idempotency_key": "k1"})
    again = stack.call("enqueue_job", caller=producer(), body={"type": "note"}, headers={header: value})
    null = {"type": "note", "idempotency_key": None}
    both = stack.call("enqueue_job", caller=producer(), body=null, headers={header: value})
    assert [again.status, both.status] == [200, 200]
    assert {again.json["id"], both.json["id"]} == {first.json["id"]}


def test_a_quoted_header_may_escape(stack: Stack) -> None:
    answer = stack.call(
        "enqueue_job", caller=producer(), body={"type": "note"}, headers={"idempotency-key": r'"a\"b\\c"'}
    )
    assert answer.json["idempotency_key"] == r'a"b\c'


def test_header_and_member_that_differ_are_refused(stack: Stack) -> None:
    body = {"type": "nope", "idempotency_key": "k1", "max_retries": "3"}
    answer = stack.call("enqueue_job", caller=producer(), body=body, headers={"idempotency-key": "k2"})
    assert answer.status == 422
    assert answer.fields == {
        "idempotency_key": "conflict",
        "max_retries": "wrong_type",
        "type": "unknown_type",
    }
    assert stack.items() == []


def test_an_empty_header_is_an_empty_key(stack: Stack) -> None:
    answer = stack.call(
        "enqueue_job", caller=producer(), body={"type": "note"}, headers={"idempotency-key": '""'}
    )
    assert answer.fields == {"idempotency_key": "wrong_length"}


def test_all_field_errors_at_once(stack: Stack) -> None:
    body = {
        "type": "email",
        "payload": {"to": 3, "extra": 1},
        "queue": "nope",
        "priority": "urgent",
        "max_retries": 101,
        "delay_seconds": 5,
        "run_at": "2026-11-30T02:26:02",
        "idempotency_key": "a\u0000",
        "colour": "blue",
    }
    answer = stack.call("enqueue_job", caller=producer(), body=body, query="dry_run=1")
    assert answer.status == 422
    assert answer.problem == "invalid-request"
    told = {(error["field"], error["code"]) for error in answer.json["errors"]}
    assert told == {
        ("payload.to", "wrong_type"),
        ("payload.subject", "missing"),
        ("payload.body", "missing"),
        ("payload.extra", "unknown_field"),
        ("queue", "unknown_queue"),
        ("priority", "unknown_value"),
        ("max_retries", "out_of_range"),
        ("run_at", "conflict"),
        ("run_at", "no_time_zone"),
        ("idempotency_key", "control_character"),
        ("colour", "unknown_field"),
        ("query.dry_run", "unknown_field"),
    }


@pytest.mark.parametrize(
    ("member", "value"), [(member, value) for member, values in WRONG_TYPES.items() for value in values]
)
def test_nothing_is_coerced(stack: Stack, member: str, value: Any) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", member: value})
    assert answer.status == 422
    assert answer.fields == {member: "wrong_type"}
    assert stack.items() == []


def test_messages_do_not_quote_what_was_sent(stack: Stack) -> None:
    canary = "CANARY-4711"
    body = {
        "type": canary,
        "priority": canary,
        "queue": canary,
        "run_at": canary,
        "max_retries": canary,
        "idempotency_key": canary * 100,
    }
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert set(answer.fields) == set(body)
    assert canary not in answer.text


def test_a_great_many_errors_make_no_great_answer(stack: Stack) -> None:
    body = {"type": "note", "x" * 10_000: 1, **{str(number): 1 for number in range(10_000)}}
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert answer.status == 422
    assert len(answer.json["errors"]) == 100
    assert len(answer.text) < 20_000


@pytest.mark.parametrize(
    ("run_at", "available_at"),
    [
        ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00.000000Z"),
        ("2026-12-01t00:00:00.5z", "2026-12-01T00:00:00.500000Z"),
        ("2026-12-01 01:30:00+01:30", "2026-12-01T00:00:00.000000Z"),
        ("2026-12-01T00:00:00.123456789-00:00", "2026-12-01T00:00:00.123456Z"),
        ("2020-01-01T00:00:00Z", "2026-11-30T02:26:02.123456Z"),
        ("0001-01-01T00:00:00+14:00", "2026-11-30T02:26:02.123456Z"),
    ],
)
def test_run_at(stack: Stack, run_at: str, available_at: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", "run_at": run_at})
    assert answer.status == 201, answer.text
    assert answer.json["available_at"] == available_at


@pytest.mark.parametrize(
    ("run_at", "code"),
    [
        ("2026-12-01T00:00:00", "no_time_zone"),
        ("2027-11-30T02:26:03Z", "out_of_range"),
        ("9999-12-31T23:59:59-14:00", "out_of_range"),
        ("2026-02-30T00:00:00Z", "malformed"),
        ("2026-12-01", "malformed"),
        ("tomorrow", "malformed"),
        ("2026-12-01T24:00:01Z", "malformed"),
        ("2026-12-01T00:00:0099Z", "malformed"),
        ("٢٠٢٦-12-01T00:00:00Z", "malformed"),
        ("", "malformed"),
    ],
)
def test_a_run_at_that_is_none(stack: Stack, run_at: str, code: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", "run_at": run_at})
    assert answer.fields == {"run_at": code}


def test_delay(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", "delay_seconds": 60})
    assert moment(answer.json["available_at"]) == START + timedelta(seconds=60)


def test_a_priority_above_the_callers_is_refused(stack: Stack) -> None:
    caller = producer(max_priority=JobPriority.HIGH)
    at_most = stack.call("enqueue_job", caller=caller, body={"type": "note", "priority": "high"})
    above = stack.call("enqueue_job", caller=caller, body={"type": "note", "priority": "CRITICAL"})
    assert (at_most.status, above.status) == (201, 403)
    assert above.problem == "priority-not-allowed"
    assert [item["priority"] for item in stack.items()] == [{"N": str(JobPriority.HIGH.rank)}]


def test_a_queue_that_is_not_granted_is_refused(stack: Stack) -> None:
    caller = producer("shop", "emails")
    answer = stack.call("enqueue_job", caller=caller, body={"type": "note", "queue": "reports"})
    assert (answer.status, answer.problem) == (403, "queue-not-allowed")
    by_default = stack.call("enqueue_job", caller=caller, body={"type": "report"})
    assert (by_default.status, by_default.problem) == (403, "queue-not-allowed")
    assert stack.items() == []


def test_the_trace_travels_with_the_job(stack: Stack) -> None:
    root = "1-692bb31a-0c6f8a3e5d7b4f1a2c9e8d70"
    header = {"X-Amzn-Trace-Id": f"Self=1-1-2;Root={root};Parent=53995c3f42cd8ad8;Sampled=1"}
    job_id = stack.call("enqueue_job", caller=producer(), body={"type": "note"}, headers=header).json["id"]
    assert stack.read(job_id).trace_id == root


def test_a_trace_that_is_none_is_left_out(stack: Stack) -> None:
    header = {"x-amzn-trace-id": "Root=<script>"}
    job_id = stack.call("enqueue_job", caller=producer(), body={"type": "note"}, headers=header).json["id"]
    assert stack.read(job_id).trace_id is None


def test_a_worker_enqueues_nothing(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=worker(), body={"type": "note"})
    assert (answer.status, answer.problem) == (403, "role-not-allowed")
    assert stack.items() == []
