"""A queue as a function opens it: from its environment, with the clock and the chance of the machine."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from jobqueue.job import is_job_id, utc_now
from jobqueue.queue import NewJob, open_queue
from jobqueue.settings import Settings
from tests.support.workshop import JOB_TYPES, JOBS, MAILER, SHOP

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENVIRONMENT = {
    "JOBS_TABLE": JOBS,
    "QUEUES_TABLE": "queues",
    "RETENTION_DAYS": "2",
    "BACKOFF_BASE_SECONDS": "30",
    "BACKOFF_CAP_SECONDS": "60",
}


def test_a_queue_keeps_to_its_environment(dynamodb: DynamoDBClient) -> None:
    queue = open_queue(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=dynamodb)
    before = utc_now()
    job = queue.enqueue(SHOP, NewJob(type="note")).job
    assert is_job_id(job.id)
    assert before <= job.created_at <= utc_now()

    claimed = queue.claim(MAILER)
    assert claimed is not None
    assert claimed.lease_token
    failed = queue.fail(MAILER, job.id)
    assert timedelta(0) < failed.available_at - failed.updated_at <= timedelta(seconds=30)

    queue.cancel(SHOP, job.id)
    item = dynamodb.get_item(TableName=JOBS, Key={"id": {"S": job.id}})["Item"]
    kept = timedelta(seconds=int(item["expires_at"]["N"]) - before.timestamp())
    assert timedelta(days=2) <= kept <= timedelta(days=2, minutes=10)


@pytest.mark.parametrize(
    ("environment", "stored"),
    [
        ({}, "no mailbox anna@example.com"),
        ({"REDACT_EMAILS": "false"}, "no mailbox anna@example.com"),
        ({"REDACT_EMAILS": "true"}, "no mailbox [email]"),
    ],
)
def test_emails_in_errors_are_kept_unless_it_says_otherwise(
    dynamodb: DynamoDBClient, environment: dict[str, str], stored: str
) -> None:
    queue = open_queue(Settings.from_env(ENVIRONMENT | environment), JOB_TYPES, client=dynamodb)
    job = queue.enqueue(SHOP, NewJob(type="note")).job
    assert queue.claim(MAILER) is not None
    assert queue.fail(MAILER, job.id, error="no mailbox anna@example.com").error == stored
