"""What may be enqueued, and when two requests mean the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.job import JobPriority
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from jobqueue.newjob import NewJob, fingerprint, new_job_errors, payload_errors
from jobqueue.webhooks.headers import SENDERS
from tests.support.clock import START

EMAIL = {"to": "a@example.com", "subject": "Hello", "body": "How are you?"}
JOB_TYPES = JobTypes(
    queues=[Queue(name="bulk"), Queue(name="mail")],
    types=[
        JobType(name="email", payload="jobtypes.payloads:EmailPayload", queue="mail"),
        JobType(name="note", payload="tests.support.payloads:Note", policy=Policy(max_retries=2)),
        JobType(name="webhook", payload="jobtypes.payloads:WebhookPayload"),
    ],
)
YEAR = 31_536_000
SECOND = timedelta(seconds=1)


def refused(**fields: Any) -> set[tuple[str, str]]:
    """Return which fields are refused, with the codes of the reasons."""
    new = NewJob(**{"type": "note", **fields})
    return {(error.field, error.code) for error in new_job_errors(new, JOB_TYPES, START)}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": "email", "payload": EMAIL},
        {"queue": "bulk"},
        {"max_retries": 0},
        {"max_retries": 100},
        {"delay_seconds": 0},
        {"delay_seconds": YEAR},
        {"run_at": START + YEAR * SECOND},
        {"run_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))},
        {"idempotency_key": "k"},
        {"idempotency_key": "😀" * 255},
        {"idempotency_key": " "},
        {"payload": {"text": "\U0001f600"}},
    ],
)
def test_what_may_be_enqueued(fields: dict[str, Any]) -> None:
    assert refused(**fields) == set()


@pytest.mark.parametrize(
    "fields, error",
    [
        ({"type": "fax"}, ("type", "unknown_type")),
        ({"type": ""}, ("type", "unknown_type")),
        ({"queue": "removed"}, ("queue", "unknown_queue")),
        ({"queue": ""}, ("queue", "unknown_queue")),
        ({"max_retries": -1}, ("max_retries", "out_of_range")),
        ({"max_retries": 101}, ("max_retries", "out_of_range")),
        ({"delay_seconds": -1}, ("delay_seconds", "out_of_range")),
        ({"delay_seconds": YEAR + 1}, ("delay_seconds", "out_of_range")),
        ({"run_at": START + (YEAR + 1) * SECOND}, ("run_at", "out_of_range")),
        ({"run_at": datetime.max.replace(tzinfo=timezone(-14 * 3600 * SECOND))}, ("run_at", "out_of_range")),
        ({"run_at": START.replace(tzinfo=None)}, ("run_at", "no_time_zone")),
        ({"run_at": START, "delay_seconds": 0}, ("run_at", "conflict")),
        ({"idempotency_key": ""}, ("idempotency_key", "wrong_length")),
        ({"idempotency_key": "😀" * 256}, ("idempotency_key", "wrong_length")),
        ({"idempotency_key": "\ud83d"}, ("idempotency_key", "invalid_unicode")),
        ({"idempotency_key": "a\nb"}, ("idempotency_key", "control_character")),
        ({"idempotency_key": "\x7f"}, ("idempotency_key", "control_character")),
        ({"idempotency_key": "\x85"}, ("idempotency_key", "control_character")),
        ({"payload": {"text": "\ud83d"}}, ("payload", "invalid_unicode")),
        ({"payload": {"\ud83d": 1}}, ("payload", "invalid_unicode")),
        ({"payload": {"text": float("nan")}}, ("payload", "not_json")),
        ({"payload": {"text": "x" * 65_526}}, ("payload", "too_long")),
    ],
)
def test_what_may_not_be_enqueued(fields: dict[str, Any], error: tuple[str, str]) -> None:
    assert refused(**fields) == {error}


def test_a_payload_may_have_65536_bytes() -> None:
    # {"text":""} takes eleven of them
    assert refused(payload={"text": "x" * 65_525}) == set()
    assert refused(payload={"text": "ä" * 32_762 + "x"}) == set()
    assert refused(payload={"text": "ä" * 32_763}) == {("payload", "too_long")}


def test_a_payload_may_have_32_levels() -> None:
    payload: dict[str, Any] = {}
    for _ in range(31):
        payload = {"a": payload}
    assert refused(payload=payload) == set()
    assert refused(payload={"a": payload}) == {("payload", "too_deep")}


def test_all_errors_are_told_at_once() -> None:
    assert refused(
        type="email",
        payload={"to": "nobody", "body": 7, "cc": "b@example.com"},
        queue="removed",
        max_retries=101,
        delay_seconds=-1,
        run_at=START.replace(tzinfo=None),
        idempotency_key="\n" * 256,
    ) == {
        ("payload.to", "malformed"),
        ("payload.subject", "missing"),
        ("payload.body", "wrong_type"),
        ("payload.cc", "unknown_field"),
        ("queue", "unknown_queue"),
        ("max_retries", "out_of_range"),
        ("delay_seconds", "out_of_range"),
        ("run_at", "conflict"),
        ("run_at", "no_time_zone"),
        ("idempotency_key", "wrong_length"),
        ("idempotency_key", "control_character"),
    }


@pytest.mark.parametrize(
    "run_at, codes",
    [("0001-01-01T00:00:00+14:00", set()), ("9999-12-31T23:59:59-14:00", {("run_at", "out_of_range")})],
)
def test_a_time_at_the_edge_of_the_calendar(run_at: str, codes: set[tuple[str, str]]) -> None:
    moment = datetime.fromisoformat(run_at)
    assert refused(run_at=moment) == codes
    new = NewJob(type="note", run_at=moment)
    assert new.available_at(START) >= START
    assert fingerprint(new, JOB_TYPES) != fingerprint(NewJob(type="note"), JOB_TYPES)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "removed", "queue": "removed", "max_retries": 101, "delay_seconds": -1},
        {"payload": {"text": "\ud83d"}, "run_at": START.replace(tzinfo=None), "delay_seconds": 1},
        {"run_at": START.replace(year=9000), "idempotency_key": ""},
        {"type": "email", "payload": {"to": 7}, "idempotency_key": "\ud83d\n"},
    ],
)
def test_every_message_begins_with_its_field(fields: dict[str, Any]) -> None:
    errors = new_job_errors(NewJob(**{"type": "note", **fields}), JOB_TYPES, START)
    assert len(errors) > 1
    assert [error.message for error in errors if not error.message.startswith(f"{error.field}: ")] == []


def test_an_error_deep_in_a_payload_tells_its_path_and_not_its_value() -> None:
    payload = {"url": "https://example.com", "headers": {"x-canary": 7}, "method": "CANARY"}
    errors = payload_errors("webhook", payload, JOB_TYPES)
    assert {error.field for error in errors} == {"payload.headers.x-canary", "payload.method"}
    assert not any("CANARY" in error.message for error in errors)


def test_a_payload_of_an_unknown_type_is_still_measured() -> None:
    assert payload_errors("fax", {"a": 1}, JOB_TYPES) == ()
    assert [error.code for error in payload_errors("fax", {"a": "\ud83d"}, JOB_TYPES)] == ["invalid_unicode"]


def test_a_job_is_available_now_later_or_at_a_time() -> None:
    berlin = timezone(timedelta(hours=1))
    at = datetime(2026, 11, 30, 4, 0, 0, tzinfo=berlin)
    assert NewJob(type="note").available_at(START) == START
    assert NewJob(type="note", delay_seconds=0).available_at(START) == START
    assert NewJob(type="note", delay_seconds=90).available_at(START) == START + 90 * SECOND
    assert NewJob(type="note", run_at=at).available_at(START) == datetime(2026, 11, 30, 3, tzinfo=UTC)
    assert NewJob(type="note", run_at=START - SECOND).available_at(START) == START


@pytest.mark.parametrize(
    "fields",
    [
        {"payload": {"b": [1, {"d": 2, "c": 3}], "a": 1}},
        {"priority": JobPriority.LOW},
        {"queue": "default"},
        {"max_retries": 2},
        {"delay_seconds": 0},
        {"queue": "default", "max_retries": 2, "delay_seconds": 0},
        {"idempotency_key": "k"},
    ],
)
def test_defaults_spelled_out_and_members_in_another_order_mean_the_same(fields: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"type": "note", "payload": {"a": 1, "b": [1, {"c": 3, "d": 2}]}}
    assert fingerprint(NewJob(**plain | fields), JOB_TYPES) == fingerprint(NewJob(**plain), JOB_TYPES)


def test_an_empty_payload_is_the_default() -> None:
    assert fingerprint(NewJob(type="note", payload={}), JOB_TYPES) == fingerprint(
        NewJob(type="note"), JOB_TYPES
    )


def test_one_moment_in_two_zones_means_the_same() -> None:
    there = START.astimezone(timezone(timedelta(hours=-5)))
    one, other = NewJob(type="note", run_at=START), NewJob(type="note", run_at=there)
    assert fingerprint(one, JOB_TYPES) == fingerprint(other, JOB_TYPES)


DIFFERENT: list[dict[str, Any]] = [
    {},
    {"type": "email"},
    {"type": "removed"},
    {"payload": {"a": 1}},
    {"payload": {"a": "1"}},
    {"payload": {"a": None}},
    {"queue": "bulk"},
    {"priority": JobPriority.HIGH},
    {"max_retries": 3},
    {"max_retries": 0},
    {"delay_seconds": 1},
    {"run_at": START},
    {"run_at": START + SECOND},
    {"run_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))},
]


def test_other_requests_do_not_mean_the_same() -> None:
    prints = {fingerprint(NewJob(**{"type": "note", **fields}), JOB_TYPES) for fields in DIFFERENT}
    assert len(prints) == len(DIFFERENT)


@given(st.integers(0, YEAR), st.timedeltas(timedelta(0), timedelta(days=30)))
def test_a_delay_means_the_same_whenever_it_is_sent(delay: int, later: timedelta) -> None:
    # what is compared is what was asked for, not the time that it came to
    new = NewJob(type="note", delay_seconds=delay)
    assert new.available_at(START + later) == new.available_at(START) + later
    assert fingerprint(new, JOB_TYPES) == fingerprint(NewJob(type="note", delay_seconds=delay), JOB_TYPES)


@pytest.mark.parametrize("name", sorted(SENDERS))
def test_a_webhook_is_refused_with_a_header_that_would_keep_it_from_being_sent(name: str) -> None:
    payload = {"url": "https://example.com/", "headers": {name.title(): "x"}}
    (error,) = payload_errors("webhook", payload, JOB_TYPES)
    assert error.field == "payload.headers"
