"""What runs by itself on the deployed stack: workers, rescue, schedules."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from jobqueue.job import parse_timestamp, utc_now
from jobqueue.lifecycle import Backoff
from jobqueue.rescue import Rescuer
from jobqueue.retries import Retries
from jobqueue.settings import Settings
from jobqueue.table import open_table
from local.curl import QUEUE
from local.paths import LIBRARY, ROOT
from tests.e2e import jobs
from tests.e2e.jobs import JsonObject, seen
from tests.e2e.mortal_worker import TYPES
from tests.e2e.running import Stack, wait_until
from tests.support.receiver import Receiver, receiving

DELAY_SECONDS = 5
YEAR_SECONDS = 31_536_000
LEASE_IS_OVER = 3600  # by how much a later worker's clock is ahead


@pytest.fixture(scope="module", autouse=True)
def delayed(stack: Stack) -> JsonObject:
    """A job that is not due yet; it comes due while other tests run."""
    return enqueued(stack, email(delay_seconds=DELAY_SECONDS))


@pytest.fixture(scope="module", autouse=True)
def schedule(stack: Stack) -> Iterator[str]:
    """A rule as the README shows it, named by its name; it fires while other tests run."""
    events = stack.aws.session.client("events", endpoint_url=stack.state.endpoint)
    rule = "jobqueue-EachMinute-1A2B3C"
    events.put_rule(Name=rule, ScheduleExpression="rate(1 minute)")
    function = stack.aws.functions().get_function(
        FunctionName=stack.state.resources["EnqueueScheduledFunction"]
    )
    job = email(queue=QUEUE, max_retries=0, delay_seconds=YEAR_SECONDS)  # nobody shall take it
    event = {"rule": "<aws.events.rule-name>", "time": "<time>", "job": job}
    events.put_targets(
        Rule=rule,
        Targets=[
            {
                "Id": "job",
                "Arn": function["Configuration"]["FunctionArn"],
                "InputTransformer": {"InputPathsMap": {"time": "$.time"}, "InputTemplate": json.dumps(event)},
            }
        ],
    )
    yield rule
    events.remove_targets(Rule=rule, Ids=["job"])
    events.delete_rule(Name=rule)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def email(subject: str = "Hello", **fields: Any) -> JsonObject:
    """Return the body of an enqueue, for the queue that work_jobs works."""
    payload = {"to": "ada@example.com", "subject": subject, "body": "It works."}
    return {"type": "email", "payload": payload, **fields}


def enqueued(stack: Stack, body: JsonObject) -> JsonObject:
    answer = stack.call("producer", "POST", "/jobs", body)
    assert answer.status_code == 201, answer.text
    job: JsonObject = answer.json()
    return job


def ended(stack: Stack, job: JsonObject) -> JsonObject:
    """Wait until a job is finished, and return it."""

    wait_until(lambda: seen(stack, job)["finished_at"] is not None)
    return seen(stack, job)


def mailbox(stack: Stack, subject: str) -> list[JsonObject]:
    """Return the messages of a subject in the emulator's mailbox."""
    kept = stack.http.get(f"{stack.state.endpoint}/_ministack/ses/messages").json()["messages"]
    return [message for messages in kept.values() for message in messages if message["Subject"] == subject]


def webhook(url: str, **fields: Any) -> JsonObject:
    return {"type": "webhook", "payload": {"url": url, "body": {"order": 7}}, **fields}


# ---------------------------------------------------------------- work_jobs


def test_an_email_is_in_the_mailbox_within_two_seconds(stack: Stack) -> None:
    waits = []
    for number in range(3):  # the first starts the function; a busy machine may be slow once
        subject = f"Within two seconds {number}"
        job = ended(stack, enqueued(stack, email(subject)))
        assert (job["status"], job["worker_id"]) == ("completed", "internal:work_jobs")
        (message,) = mailbox(stack, subject)
        assert message["To"] == ["ada@example.com"]
        assert message["MessageId"].startswith(job["result"]["message_id"].partition("@")[0])
        waits.append(message["Timestamp"] - parse_timestamp(job["created_at"]).timestamp())
    assert min(waits) < 2


def test_a_webhook_arrives_signed_for_its_receiver(stack: Stack, receiver: Receiver) -> None:
    job = ended(stack, enqueued(stack, webhook(receiver.url())))
    assert (job["status"], job["result"]) == ("completed", {"status": 200})
    (request,) = receiver.received
    assert json.loads(request.body) == {"order": 7}
    assert request.headers["webhook-id"] == job["id"]
    key = base64.b64decode(printed_key(stack, "127.0.0.1").removeprefix("whsec_"))
    signed = f"{job['id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert request.headers["webhook-signature"] == f"v1,{signature}"


def printed_key(stack: Stack, host: str) -> str:
    """Return what the operator's command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "jobqueue.webhooks", host],
        env=os.environ | operator(stack) | {"WEBHOOK_SECRET_ARN": stack.state.outputs["WebhookSecretArn"]},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def operator(stack: Stack) -> dict[str, str]:
    """Return the environment of somebody who may use the stack's account."""
    return {
        "AWS_ENDPOINT_URL": stack.state.endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "PYTHONPATH": os.pathsep.join([str(LIBRARY), str(ROOT / "layers" / "jobtypes"), str(ROOT)]),
    }


def test_what_fails_three_times_is_failed_until_an_admin_retries_it(stack: Stack, receiver: Receiver) -> None:
    receiver.status, receiver.headers = 503, {"Retry-After": "0"}
    job = ended(stack, enqueued(stack, webhook(receiver.url(), max_retries=2)))
    assert (job["status"], job["retry_count"]) == ("failed", 2)
    assert len(receiver.received) == 3
    assert "503" in job["error"]
    receiver.status = 204
    assert stack.call("admin", "POST", f"/jobs/{job['id']}/retry").status_code == 200
    job = ended(stack, job)
    assert (job["status"], job["result"]) == ("completed", {"status": 204})
    assert {request.headers["webhook-id"] for request in receiver.received} == {job["id"]}


def test_a_receiver_that_says_no_is_not_asked_again(stack: Stack, receiver: Receiver) -> None:
    receiver.status = 410
    job = ended(stack, enqueued(stack, webhook(receiver.url())))
    assert (job["status"], job["retry_count"]) == ("failed", 0)
    assert len(receiver.received) == 1


# ---------------------------------------------------------------- workers that die


@contextmanager
def mortal_worker(stack: Stack, handler: str, offset: int) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | deployed_environment(stack) | operator(stack)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.mortal_worker", handler, str(offset)],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def deployed_environment(stack: Stack) -> dict[str, str]:
    """Return the environment of a function that uses the queue."""
    function = stack.aws.functions().get_function(FunctionName=stack.state.resources["RescueJobsFunction"])
    return dict(function["Configuration"]["Environment"]["Variables"])


def begun(process: subprocess.Popen[str]) -> str | None:
    """Return the job that a worker begins next, or None when it has ended without one."""
    assert process.stdout is not None
    for line in process.stdout:
        if match := re.fullmatch(r"begun (job_\w+)\n", line):
            return match[1]
    return None


def test_the_job_of_a_killed_worker_is_run_by_another(empty: Stack) -> None:
    job = enqueued(empty, jobs.email())
    with mortal_worker(empty, "hang", 0) as first:
        assert begun(first) == job["id"]
        first.send_signal(signal.SIGKILL)
        assert first.wait() == -signal.SIGKILL
    assert seen(empty, job)["status"] == "running"
    with mortal_worker(empty, "finish", LEASE_IS_OVER) as second:
        assert begun(second) == job["id"]
        done = ended(empty, job)
    assert (done["status"], done["retry_count"]) == ("completed", 1)
    assert done["result"] == {"sent": "ada@example.com"}


def test_a_job_that_kills_its_workers_ends_in_failed(empty: Stack) -> None:
    job = enqueued(empty, jobs.email(max_retries=1))
    claims = []
    for attempt in range(3):
        with mortal_worker(empty, "die", attempt * LEASE_IS_OVER) as process:
            claims.append(begun(process))
            process.wait()
        rescue(empty, (attempt + 1) * LEASE_IS_OVER)
    assert claims == [job["id"], job["id"], None]
    dead = seen(empty, job)
    assert (dead["status"], dead["retry_count"], dead["error"]) == ("failed", 1, "lease expired")


def rescue(stack: Stack, offset: int) -> None:
    """Run the rescuer with a clock that is ahead."""
    settings = Settings.from_env(deployed_environment(stack))
    Rescuer(
        open_table(settings, TYPES, client=stack.aws.dynamodb()),
        TYPES,
        Retries(TYPES, Backoff(base_seconds=0, cap_seconds=1), random.Random(1)),
        clock=lambda: utc_now() + timedelta(seconds=offset),
    ).run()


# ---------------------------------------------------------------- time


def test_a_delayed_job_runs_when_it_is_due_and_not_before(stack: Stack, delayed: JsonObject) -> None:
    job = ended(stack, delayed)
    due, claimed = parse_timestamp(job["available_at"]), parse_timestamp(job["claimed_at"])
    assert due - parse_timestamp(job["created_at"]) == timedelta(seconds=DELAY_SECONDS)
    assert timedelta(0) <= claimed - due
    assert claimed - due < timedelta(seconds=60 + 5)  # the schedule's minute, and the start of the function


def test_a_tick_of_a_schedule_makes_one_job(stack: Stack, schedule: str) -> None:
    def made() -> list[JsonObject]:
        found = stack.call("admin", "GET", f"/jobs?queue={QUEUE}&type=email&limit=100").json()["jobs"]
        return [job for job in found if job["created_by"] == "internal:enqueue_scheduled"]

    wait_until(lambda: bool(made()))
    job = seen(stack, made()[0])
    rule, _, moment = job["idempotency_key"].partition("/")
    assert rule == schedule
    assert parse_timestamp(moment) <= parse_timestamp(job["created_at"])
    assert job["max_retries"] == 0
