"""The function that works jobs: what starts it, and what it does with the jobs of the deployment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from functions.work_jobs.handlers import email as email_handler
from functions.work_jobs.handlers import webhook as webhook_handler
from jobqueue.errors import InvalidSettings
from jobqueue.job import Job, JobStatus, format_timestamp, new_job_id, utc_now
from jobqueue.jobtype import JobType, JobTypes
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.settings import Settings
from jobqueue.table import open_table
from jobqueue.worker.function import WorkerSettings, WorkJobs
from jobqueue.worker.handlers import InvalidHandlers
from jobtypes import JOB_TYPES
from tests.support.callers import admin, producer
from tests.support.http import EMAIL, ENVIRONMENT, Stack
from tests.support.lambdas import Context, event
from tests.support.log import captured_log
from tests.support.receiver import Receiver, receiving
from tests.support.template import ROOT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SENDER = "jobs@example.com"
WORKER_ENVIRONMENT = {
    "WORKER_QUEUES": "default",
    "WORKER_CONCURRENCY": "10",
    "MAX_WORKERS": "5",
    "SENDER_ADDRESS": SENDER,
    "WEBHOOK_SECRET_ARN": "webhooks",
    "WEBHOOK_ALLOW_LOOPBACK": "true",
}


class Deployment:
    """The deployment's own types of job, their queue, and the function."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.ids: list[str] = []
        self.queue = JobQueue(
            open_table(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=client),
            JOB_TYPES,
            backoff=Backoff(base_seconds=5, cap_seconds=900),
            new_id=lambda now: self.ids.pop() if self.ids else new_job_id(now),
        )
        self._app = import_module("functions.work_jobs.app")

    def enqueue(self, type_name: str, payload: dict[str, Any], **fields: Any) -> Job:
        return self.queue.enqueue(producer("shop"), NewJob(type=type_name, payload=payload, **fields)).job

    def get(self, job: Job) -> Job:
        return self.queue.get(admin(), job.id)

    def work(self, happened: dict[str, Any], seconds: float = 300.0) -> dict[str, int]:
        """Call the function."""
        counts: dict[str, int] = self._app.lambda_handler(happened, Context(seconds))
        return counts


@pytest.fixture
def deployment(tables: DynamoDBClient, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    for name, value in WORKER_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    boto3.client("sesv2").create_email_identity(EmailIdentity=SENDER)
    boto3.client("secretsmanager").create_secret(Name="webhooks", SecretString="made up")
    webhook_handler.sender.cache_clear()
    yield Deployment(tables)
    boto3.client("secretsmanager").delete_secret(SecretId="webhooks", ForceDeleteWithoutRecovery=True)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def ready(job: Job, **image: Any) -> dict[str, Any]:
    """Make the stream's event of a job that became ready."""
    happened = event("work_jobs")
    (record,) = happened["Records"]
    record["dynamodb"]["NewImage"] |= {
        "id": {"S": job.id},
        "available_at": {"S": format_timestamp(job.available_at)},
        **image,
    }
    return happened


def test_the_event_of_a_new_job_gets_it_done(deployment: Deployment) -> None:
    happened = event("work_jobs")
    deployment.ids.append(happened["Records"][0]["dynamodb"]["NewImage"]["id"]["S"])
    job = deployment.enqueue("email", EMAIL)
    assert deployment.work(happened) == {"completed": 1}
    done = deployment.get(job)
    assert (done.status, done.worker_id) == (JobStatus.COMPLETED, "internal:work_jobs")
    assert done.result["message_id"]


def test_the_schedule_gets_done_what_is_due(deployment: Deployment) -> None:
    jobs = [deployment.enqueue("email", EMAIL) for _ in range(3)]
    later = deployment.enqueue("email", EMAIL, delay_seconds=3600)
    assert deployment.work(event("rescue_jobs")) == {"completed": 3}
    assert {deployment.get(job).status for job in jobs} == {JobStatus.COMPLETED}
    assert deployment.get(later).status is JobStatus.PENDING


def test_a_wake_for_a_job_that_is_not_due_looks_for_nothing(deployment: Deployment) -> None:
    due = deployment.enqueue("email", EMAIL)
    later = deployment.enqueue("email", EMAIL, delay_seconds=3600)
    assert deployment.work(ready(later)) == {}
    assert deployment.get(due).status is JobStatus.PENDING


def test_the_function_starts_itself_with_a_number_and_a_time(deployment: Deployment) -> None:
    deployment.enqueue("email", EMAIL)
    over = {"worker": 2, "until": format_timestamp(utc_now() - timedelta(seconds=1))}
    assert deployment.work(over) == {}
    assert deployment.work(over | {"until": format_timestamp(utc_now() + timedelta(seconds=60))}) == {
        "completed": 1
    }


def test_too_little_time_takes_no_job(deployment: Deployment) -> None:
    deployment.enqueue("email", EMAIL)
    assert deployment.work(event("rescue_jobs"), seconds=4) == {}


def test_a_webhook_is_sent(deployment: Deployment, receiver: Receiver) -> None:
    job = deployment.enqueue("webhook", {"url": receiver.url(), "body": {"order": 7}})
    assert deployment.work(ready(job)) == {"completed": 1}
    assert deployment.get(job).result == {"status": 200}
    assert receiver.received[0].headers["webhook-id"] == job.id


def test_what_is_logged_holds_no_payload_and_no_error(deployment: Deployment, receiver: Receiver) -> None:
    receiver.status = 500
    deployment.enqueue("webhook", {"url": receiver.url(path="/CANARY"), "body": {"secret": "CANARY"}})
    deployment.enqueue("email", {**EMAIL, "body": "CANARY"})
    with captured_log() as text:
        deployment.work(event("rescue_jobs"))
        assert "CANARY" not in text()
        assert '"outcome":"retried"' in text()
        assert '"error_class":"NotDelivered"' in text()


# ---------------------------------------------------------------- how it is set up


def new_function(job_types: JobTypes = JOB_TYPES) -> WorkJobs:
    folder = ROOT / "functions" / "work_jobs" / "handlers"
    return WorkJobs("functions.work_jobs.handlers", folder, job_types)


def test_a_type_without_handler_stops_the_start(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    # a name that no deployment gives a type of its own
    nobodys = JobType(name="handled-by-nobody", payload="tests.support.payloads:Note")
    with pytest.raises(InvalidHandlers, match=r"functions/work_jobs/handlers/handled_by_nobody\.py"):
        new_function(JobTypes([*JOB_TYPES.types, nobodys], JOB_TYPES.queues))


def test_the_start_fails_without_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    new_function()  # elsewhere than in Lambda, only a call needs it
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    with pytest.raises(InvalidSettings):
        new_function()


def test_no_queues_means_all(tmp_path: Path) -> None:
    settings = WorkerSettings.from_env(JOB_TYPES, {"WORKER_CONCURRENCY": "1", "MAX_WORKERS": "1"})
    assert settings.queues == tuple(queue.name for queue in JOB_TYPES.queues)


@pytest.mark.parametrize(
    "name, value",
    [
        ("WORKER_QUEUES", "default,no-such"),
        ("WORKER_CONCURRENCY", "0"),
        ("WORKER_CONCURRENCY", ""),
        ("MAX_WORKERS", "many"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings):
        WorkerSettings.from_env(JOB_TYPES, WORKER_ENVIRONMENT | {name: value})


def test_queues_are_told_apart() -> None:
    given = WORKER_ENVIRONMENT | {"WORKER_QUEUES": " default , external,"}
    assert WorkerSettings.from_env(JOB_TYPES, given).queues == ("default", "external")


def test_an_email_without_a_sender_waits_for_one(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENDER_ADDRESS", "")
    job = deployment.enqueue("email", EMAIL)
    assert deployment.work(ready(job)) == {"retried": 1}
    waiting = deployment.get(job)
    assert "SenderAddress" in str(waiting.error)
    assert waiting.available_at - utc_now() > timedelta(seconds=email_handler.WITHOUT_SENDER_SECONDS - 60)
