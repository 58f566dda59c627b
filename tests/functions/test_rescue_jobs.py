"""The function that gives the jobs of silent workers back, every minute."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from jobqueue.job import Job, JobStatus, utc_now
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.settings import Settings
from jobqueue.table import open_table
from jobtypes import JOB_TYPES
from tests.support.callers import admin, producer, worker
from tests.support.http import EMAIL, ENVIRONMENT, Stack
from tests.support.lambdas import Context, event
from tests.support.log import log_lines

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AN_HOUR = timedelta(hours=1)


@pytest.fixture
def long_ago(tables: DynamoDBClient, stack: Stack) -> JobQueue:
    """The deployment's queue, an hour before the function runs."""
    return JobQueue(
        open_table(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=tables),
        JOB_TYPES,
        backoff=Backoff(base_seconds=5, cap_seconds=900),
        clock=lambda: utc_now() - AN_HOUR,
    )


def claimed(queue: JobQueue, max_retries: int = 3) -> Job:
    queue.enqueue(producer("shop"), NewJob(type="email", payload=EMAIL, max_retries=max_retries))
    job = queue.claim(worker("mailer"))
    assert job is not None
    return job


def run() -> dict[str, int]:
    counts: dict[str, int] = import_module("functions.rescue_jobs.app").lambda_handler(
        event("rescue_jobs"), Context()
    )
    return counts


def test_jobs_of_silent_workers_go_back_or_fail(long_ago: JobQueue) -> None:
    again, last = claimed(long_ago), claimed(long_ago, max_retries=0)
    with log_lines() as lines:
        assert run() == {"failed": 1, "requeued": 1}
    assert long_ago.get(admin(), again.id).status is JobStatus.PENDING
    dead = long_ago.get(admin(), last.id)
    assert (dead.status, dead.error) == (JobStatus.FAILED, "lease expired")
    assert {(line.get("job_id"), line["outcome"]) for line in lines} == {
        (again.id, "requeued"),
        (last.id, "failed"),
        (None, "ok"),
    }
    (summary,) = [line for line in lines if line["outcome"] == "ok"]
    assert (summary["requeued"], summary["failed"]) == (1, 1)


def test_an_extended_lease_is_left_alone(long_ago: JobQueue) -> None:
    job = claimed(long_ago)
    long_ago.extend(worker("mailer"), job.id, lease_token=job.lease_token, lease_seconds=43_200)
    assert run() == {"extended": 1}
    assert long_ago.get(admin(), job.id).status is JobStatus.RUNNING
    assert run() == {}  # filed under its new end, so it is not looked at again


def test_nothing_to_do_says_so(long_ago: JobQueue) -> None:
    with log_lines() as lines:
        assert run() == {}
    assert [line["outcome"] for line in lines] == ["ok"]


@pytest.mark.parametrize("spoiled", ["payload", "created_at"])
def test_an_item_that_cannot_be_read_does_not_stop_the_others(
    long_ago: JobQueue, tables: DynamoDBClient, spoiled: str
) -> None:
    broken, fine = claimed(long_ago), claimed(long_ago)
    tables.update_item(
        TableName="jobs",
        Key={"id": {"S": broken.id}},
        UpdateExpression="SET #spoiled = :spoiled",
        ExpressionAttributeNames={"#spoiled": spoiled},
        ExpressionAttributeValues={":spoiled": {"S": "{"}},
    )
    with log_lines() as lines:
        assert run() == {"broken": 1, "requeued": 1}
    assert long_ago.get(admin(), fine.id).status is JobStatus.PENDING
    (line,) = [line for line in lines if line["outcome"] == "broken"]
    assert line["job_id"] == broken.id
    assert line["error_class"] == "CorruptItem"
