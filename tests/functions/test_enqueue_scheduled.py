"""The function that enqueues what a schedule carries: one job for each tick, however often it fires."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from jobqueue.errors import IdempotencyKeyReused, Unavailable
from jobqueue.job import JobPriority, JobStatus
from jobqueue.scheduled import InvalidSchedule, read_tick
from tests.support.http import Stack
from tests.support.lambdas import Context, event
from tests.support.log import log_lines

TICK = event("enqueue_scheduled")
RULE_ARN = f"arn:aws:events:eu-central-1:123456789012:rule/{TICK['rule']}"


def fire(tick: dict[str, Any]) -> str:
    answer: dict[str, str] = import_module("functions.enqueue_scheduled.app").lambda_handler(tick, Context())
    return answer["id"]


def with_job(**fields: Any) -> dict[str, Any]:
    return TICK | {"job": TICK["job"] | fields}


def test_a_tick_makes_a_job(stack: Stack) -> None:
    job = stack.read(fire(TICK))
    assert (job.type, job.status, job.payload) == ("email", JobStatus.PENDING, TICK["job"]["payload"])
    assert job.created_by == "internal:enqueue_scheduled"


def test_a_tick_that_fires_twice_makes_one_job(stack: Stack) -> None:
    with log_lines() as lines:
        assert fire(TICK) == fire(TICK)
    assert len(stack.items()) == 1
    assert [line["outcome"] for line in lines] == ["created", "known"]
    assert {line["rule"] for line in lines} == {TICK["rule"]}


def test_the_next_tick_and_another_rule_make_others(stack: Stack) -> None:
    ticks = (TICK, TICK | {"time": "2026-12-01T03:00:00Z"}, TICK | {"rule": "another"})
    assert len({fire(tick) for tick in ticks}) == 3


@pytest.mark.parametrize(
    "time", ["2026-11-30T03:00:00Z", "2026-11-30T03:00:00+00:00", "2026-11-30T04:00:00+01:00"]
)
def test_a_time_is_the_same_however_it_is_written(stack: Stack, time: str) -> None:
    assert fire(TICK | {"time": time}) == fire(TICK)


@pytest.mark.parametrize(
    "arn",
    [
        RULE_ARN,
        RULE_ARN.replace(":aws:", ":aws-us-gov:"),
        RULE_ARN.replace(":events:", ":scheduler:").replace(":rule/", ":schedule/"),
    ],
)
def test_a_rule_is_known_by_its_name_or_its_arn(arn: str) -> None:
    assert read_tick(TICK | {"rule": arn}).new.idempotency_key == read_tick(TICK).new.idempotency_key


@pytest.mark.parametrize("priority", ["critical", "CRITICAL"])
def test_a_schedule_may_have_any_priority(stack: Stack, priority: str) -> None:
    assert stack.read(fire(with_job(priority=priority))).priority is JobPriority.CRITICAL


def test_a_job_may_say_all_that_a_request_may(stack: Stack) -> None:
    job = stack.read(fire(with_job(queue="external", max_retries=0, delay_seconds=60)))
    assert (job.queue, job.max_retries) == ("external", 0)
    assert (job.available_at - job.created_at).total_seconds() == 60


@pytest.mark.parametrize(
    "tick, says",
    [
        ({"time": "<aws.scheduler.scheduled-time>"}, "placeholder <aws.scheduler.scheduled-time>"),
        ({"time": "<time>"}, "placeholder <time>"),
        ({"rule": "<aws.events.rule-name>"}, "placeholder <aws.events.rule-name>"),
        ({"time": ""}, "no `time`"),
        ({"time": None}, "no `time`"),
        ({"time": 1796007600}, "no `time`"),
        ({"time": "noon"}, "not a time"),
        ({"time": "0001-01-01T00:00:00+14:00"}, "not a time"),
        ({"time": "9999-12-31T23:59:59-01:00"}, "not a time"),
        ({"time": "2026-11-30T03:00:00"}, "offset"),
        ({"rule": ""}, "no `rule`"),
        ({"rule": "x" * 201}, "200"),
        ({"job": None}, "no `job`"),
        ({"job": []}, "no `job`"),
        ({"job": {}}, "job.type"),
        ({"job": {"type": "no-such"}}, "type"),
        ({"job": {"type": "email", "payload": {"to": "nobody"}}}, "payload.subject"),
        ({"job": {"type": "email", "payload": "text"}}, "job.payload"),
        ({"job": {"type": "email", "max_retries": "3"}}, "job.max_retries"),
        ({"job": {"type": "email", "max_retries": True}}, "job.max_retries"),
        ({"job": {"type": "email", "priority": "urgent"}}, "job.priority"),
        ({"job": {"type": "email", "priority": 7}}, "job.priority"),
        ({"job": {"type": "email", "idempotency_key": "mine"}}, "job.idempotency_key"),
        ({"job": {"type": "email", "run_at": "2026-11-30T03:00:00Z"}}, "job.run_at"),
        ({"job": {"type": "email", "typo": 1}}, "job.typo"),
    ],
)
def test_a_bad_schedule_fails_loudly_and_says_why(stack: Stack, tick: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        fire(TICK | tick)
    assert says in str(refused.value)
    assert stack.items() == []


def test_all_that_is_wrong_is_said_at_once(stack: Stack) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        fire(TICK | {"job": {"max_retries": "3", "typo": 1}})
    for field in ("job.type", "job.max_retries", "job.typo"):
        assert field in str(refused.value)


def test_a_schedule_that_changes_between_two_firings_of_a_tick_is_seen(stack: Stack) -> None:
    fire(TICK)
    with pytest.raises(IdempotencyKeyReused):
        fire(with_job(max_retries=9))


def test_an_event_of_a_plain_schedule_is_refused(stack: Stack) -> None:
    with pytest.raises(InvalidSchedule):
        fire(event("rescue_jobs"))


def test_a_busy_table_fails_the_call_so_that_lambda_repeats_it(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="http://dynamodb")

    client = import_module("functions.enqueue_scheduled.app").queue()._table._client
    client.meta.events.register("before-call.dynamodb.PutItem", fail)
    try:
        with pytest.raises(Unavailable):
            fire(TICK)
    finally:
        client.meta.events.unregister("before-call.dynamodb.PutItem", fail)
    assert stack.read(fire(TICK)).status is JobStatus.PENDING
