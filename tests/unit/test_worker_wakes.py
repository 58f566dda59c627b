"""What starts the worker function, and how it starts more of itself."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.job import format_timestamp
from jobqueue.worker.fleet import Fleet, followers
from jobqueue.worker.wakes import FleetWake, StreamWake, read_wake
from tests.support.clock import START
from tests.support.lambdas import event
from tests.support.log import log_lines

FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:jobqueue-WorkJobs"
QUEUES = ("default",)
(NEW,) = event("work_jobs")["Records"]
JOB_ID = NEW["dynamodb"]["NewImage"]["id"]["S"]


def promised(*records: dict[str, Any]) -> frozenset[str]:
    wake = read_wake({"Records": list(records)}, QUEUES, START)
    assert isinstance(wake, StreamWake)
    return wake.promised


def record(name: str = "INSERT", old: dict[str, Any] | None = None, **new: str) -> dict[str, Any]:
    """Make a stream's record of a job that changed."""
    image = NEW["dynamodb"]["NewImage"] | {key: {"S": value} for key, value in new.items()}
    change = {**NEW["dynamodb"], "NewImage": image}
    if old is not None:
        change["OldImage"] = image | {key: {"S": value} for key, value in old.items()}
    return {**NEW, "eventName": name, "dynamodb": change}


def test_a_new_job_is_promised() -> None:
    assert promised(record()) == {JOB_ID}


@pytest.mark.parametrize("status", ["running", "failed", "cancelled", "completed"])
def test_a_job_that_is_pending_again_is_promised(status: str) -> None:
    assert promised(record("MODIFY", {"status": status})) == {JOB_ID}


@pytest.mark.parametrize(
    "changed",
    [
        record(status="running"),
        record("MODIFY", {"status": "pending"}),
        record(queue="external"),
        record(available_at=format_timestamp(START + timedelta(seconds=2))),
        {"eventName": "REMOVE", "dynamodb": {"OldImage": NEW["dynamodb"]["NewImage"]}},
    ],
    ids=["running", "pending-before", "another-queue", "delayed", "removed"],
)
def test_nothing_else_is(changed: dict[str, Any]) -> None:
    assert promised(changed) == frozenset()


def test_one_bad_item_does_not_keep_the_others_waiting() -> None:
    assert promised(record(available_at="soon"), record()) == {JOB_ID}


def test_a_clock_that_is_a_little_behind_misses_no_job() -> None:
    assert promised(record(available_at=format_timestamp(START + timedelta(seconds=0.5)))) == {JOB_ID}


@pytest.mark.parametrize("happened", [event("rescue_jobs"), {}, {"detail": {"worker": 9}}])
def test_all_else_counts_as_the_schedule(happened: dict[str, Any]) -> None:
    assert read_wake(happened, QUEUES, START) == FleetWake(number=1, until=None)


# ---------------------------------------------------------------- more workers


@given(st.integers(1, 1000))
def test_every_worker_is_started_once(most: int) -> None:
    started, waiting = [1], [1]
    while waiting:
        more = list(followers(waiting.pop(), most))
        started += more
        waiting += more
    assert sorted(started) == list(range(1, most + 1))


def test_a_thousand_workers_are_fewer_calls_deep_than_lambda_takes_for_a_loop() -> None:
    depth, number = 1, 1000
    while number > 1:
        number //= 2
        depth += 1
    assert depth < 16


def test_a_backlog_starts_the_next_two() -> None:
    client = boto3.client("lambda")
    with Stubber(client) as stubber:
        for number in (4, 5):
            payload = {"worker": number, "until": format_timestamp(START)}
            stubber.add_response(
                "invoke",
                {"StatusCode": 202},
                {
                    "FunctionName": FUNCTION,
                    "InvocationType": "Event",
                    "Payload": json.dumps(payload).encode(),
                },
            )
        Fleet(FUNCTION, 5, lambda: client).start_next(FleetWake(number=2), START)
        stubber.assert_no_pending_responses()


def test_what_a_worker_is_started_with_is_what_it_reads() -> None:
    started = read_wake({"worker": 5, "until": format_timestamp(START)}, QUEUES, START)
    assert started == FleetWake(number=5, until=START)


def test_the_last_workers_start_nobody() -> None:
    def no_client() -> Any:
        raise AssertionError("nobody needs a client")

    Fleet(FUNCTION, 1, no_client).start_next(FleetWake(number=1), START)


def test_a_start_that_fails_stops_neither_the_worker_nor_the_other_start() -> None:
    client = boto3.client("lambda")
    with Stubber(client) as stubber, log_lines() as lines:
        stubber.add_client_error("invoke", "TooManyRequestsException", http_status_code=429)
        stubber.add_response("invoke", {"StatusCode": 202})
        Fleet(FUNCTION, 3, lambda: client).start_next(FleetWake(), START)
        stubber.assert_no_pending_responses()
    assert [(line["outcome"], line["worker"]) for line in lines] == [
        ("worker-not-started", 2),
        ("worker-started", 3),
    ]
