"""Each action that a function's policy grants is one that the function calls, and it calls no other.

That a policy suffices is shown over HTTP too: the stack of the end-to-end tests enforces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from importlib import import_module
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient

from functions.work_jobs.handlers import email as email_handler
from functions.work_jobs.handlers import webhook as webhook_handler
from jobqueue.authorizer import open_authorizer
from jobqueue.job import utc_now
from jobqueue.keys import create_key
from jobqueue.queue import NewJob, open_queue
from jobqueue.settings import Settings
from jobqueue.worker.function import WorkJobs
from jobtypes import JOB_TYPES
from tests.support.callers import admin, producer, worker
from tests.support.events import authorizer_event, http_event
from tests.support.functions import declared
from tests.support.grants import FOLLOW_STREAM, TRACING, WHERE_CALLERS_ARE_LIMITED, Grant, grants, needed
from tests.support.http import EMAIL, ENVIRONMENT, Stack
from tests.support.lambdas import Context, event
from tests.support.receiver import receiving
from tests.support.template import ROOT

IDENTITY = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/"
OTHER: dict[str, tuple[set[Grant], dict[str, Any]]] = {
    "PutEvents": ({("events:PutEvents", "EventBus.Arn")}, {"Entries": [{"EventId": "1"}]}),
    "Invoke": ({("lambda:InvokeFunction", "WorkJobsFunction.Arn")}, {"StatusCode": 202}),
    "GetSecretValue": ({("secretsmanager:GetSecretValue", "WebhookSecret.Id")}, {"SecretString": "made up"}),
    # of the one address or of its domain: SES asks for the one that is verified
    "SendEmail": (
        {("ses:SendEmail", f"{IDENTITY}${{{name}}}") for name in ("SenderAddress", "Domain")},
        {"MessageId": "1"},
    ),
}
"""What other services are asked, the grants that it takes, and what they answer."""

WORKER = {
    "WORKER_QUEUES": "default",
    "WORKER_CONCURRENCY": "1",
    "MAX_WORKERS": "3",
    "SENDER_ADDRESS": "jobs@example.com",
    "WEBHOOK_SECRET_ARN": "webhooks",
    "WEBHOOK_ALLOW_LOOPBACK": "true",
    "EVENT_BUS": "bus",
}


@contextmanager
def recorded() -> Iterator[set[Grant]]:
    """Tell the grants that the calls in the block take."""
    used: set[Grant] = set()
    original: Callable[..., Any] = vars(BaseClient)["_make_api_call"]

    def call(client: Any, operation: str, sent: Any) -> Any:
        if operation in OTHER:
            grant, answer = OTHER[operation]
            used.update(grant)
            return answer
        used.update(needed(operation, sent))
        return original(client, operation, sent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        yield used


def on_job(function: str, caller: Any, *, held: bool = False) -> Callable[[Stack], set[Grant]]:
    """Call a route about a job; without a token, so that it is read first."""

    def run(stack: Stack) -> set[Grant]:
        job_id = stack.enqueue()
        if held:
            stack.claim()
        if function == "retry_job":
            stack.call("cancel_job", job_id, caller=admin())
        one = {"id": job_id, "lease_token": stack.read(job_id).lease_token}
        batch = {"body": {"jobs": [one]}} if function == "complete_jobs" else {"job_id": job_id}
        with recorded() as used:
            answer = stack.call(function, caller=caller, **batch)
        assert answer.status == 200, answer.text
        return used

    return run


def simple(function: str, caller: Any, **request: Any) -> Callable[[Stack], set[Grant]]:
    def run(stack: Stack) -> set[Grant]:
        cancelled = stack.enqueue()
        stack.call("cancel_job", cancelled, caller=admin())
        with recorded() as used:
            answer = stack.call(function, caller=caller, **request)
        assert answer.status in (200, 201), answer.text
        return used

    return run


def claiming(function: str, **body: Any) -> Callable[[Stack], set[Grant]]:
    """Claim a job that waits; then take one over whose lease ran out, which is read first."""

    def run(stack: Stack) -> set[Grant]:
        stack.enqueue()
        with recorded() as used:
            for _ in range(2):
                assert stack.call(function, caller=worker(), body=body).status == 200
                stack.clock.advance(120)
        return used

    return run


def authorizing(stack: Stack) -> set[Grant]:
    key = create_key("shop", role="producer")
    asked = authorizer_event(http_event("list_jobs", headers={"authorization": f"Bearer {key}"}))
    authorizer = open_authorizer(client=stack.client)
    with recorded() as used:
        assert authorizer.answer(asked)["isAuthorized"]
    return used


def by_itself(function: str, opener: str, times: int = 1) -> Callable[[Stack], set[Grant]]:
    def run(stack: Stack) -> set[Grant]:
        long_ago = Stack(stack.client, JOB_TYPES)
        long_ago.clock.now = utc_now() - timedelta(hours=1)
        long_ago.queue.enqueue(producer(), NewJob(type="email", payload=EMAIL))
        assert long_ago.queue.claim(worker())
        app = import_module(f"functions.{function}.app")
        getattr(app, opener).cache_clear()
        with recorded() as used:
            for _ in range(times):
                app.lambda_handler(event(function), Context())
        return used

    return run


def working(stack: Stack) -> set[Grant]:
    queue = open_queue(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=stack.client)
    webhook_handler.sender.cache_clear()
    email_handler.client.cache_clear()
    handlers = ROOT / "functions" / "work_jobs" / "handlers"
    function = WorkJobs("functions.work_jobs.handlers", handlers, JOB_TYPES)
    with receiving() as receiver, recorded() as used:
        receiver.status = 404
        for _ in range(3):
            queue.enqueue(producer(), NewJob(type="email", payload=EMAIL))
        queue.enqueue(producer(), NewJob(type="webhook", payload={"url": receiver.url()}))
        used.clear()
        assert function(event("rescue_jobs"), Context()) == {"completed": 3, "failed": 1}
    return used


A_JOB = {"type": "note"}
RUNS: dict[str, Callable[[Stack], set[Grant]]] = {
    "authorize_request": authorizing,
    "cancel_job": on_job("cancel_job", producer()),
    "claim_job": claiming("claim_job"),
    "claim_jobs": claiming("claim_jobs", max_jobs=1),
    "complete_job": on_job("complete_job", worker(), held=True),
    "complete_jobs": on_job("complete_jobs", worker(), held=True),
    "enqueue_job": simple("enqueue_job", producer(), body=A_JOB),
    "enqueue_jobs": simple("enqueue_jobs", producer(), body={"jobs": [A_JOB, A_JOB]}),
    "enqueue_scheduled": by_itself("enqueue_scheduled", "queue"),
    "fail_job": on_job("fail_job", worker(), held=True),
    "follow_jobs": by_itself("follow_jobs", "follower"),
    "get_job": on_job("get_job", producer()),
    "heartbeat_job": on_job("heartbeat_job", worker(), held=True),
    "list_jobs": simple("list_jobs", producer()),
    "list_queues": simple("list_queues", producer()),
    "measure_queues": by_itself("measure_queues", "measurer", times=2),
    "pause_queue": simple("pause_queue", admin(), queue="default"),
    "release_job": on_job("release_job", worker(), held=True),
    "rescue_jobs": by_itself("rescue_jobs", "rescuer"),
    "resume_queue": simple("resume_queue", admin(), queue="default"),
    "retry_job": on_job("retry_job", admin()),
    "retry_jobs": simple("retry_jobs", admin(), queue="default", body={"status": "cancelled"}),
    "show_console": lambda _: set(),
    "show_openapi": lambda _: set(),
    "work_jobs": working,
}
BY_THE_PLATFORM = TRACING | FOLLOW_STREAM
"""What Lambda itself does in the function's name: it writes traces and reads the stream."""


def test_every_function_is_run() -> None:
    assert RUNS.keys() == declared().keys()


@pytest.mark.parametrize(
    "condition", [None, WHERE_CALLERS_ARE_LIMITED], ids=["as it comes", "callers limited"]
)
@pytest.mark.parametrize("function", RUNS)
def test_what_is_granted_is_what_is_called(
    stack: Stack,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    function: str,
    condition: str | None,
) -> None:
    for name, value in WORKER.items():
        monkeypatch.setenv(name, value)
    granted = grants(function, *filter(None, [condition])) - BY_THE_PLATFORM
    with stack.limiting(per_second=100) if condition else nullcontext():
        used = RUNS[function](stack)
    record_property("counted: policy actions granted", len(granted))
    record_property("counted: policy actions unused", len(granted - used))
    assert used == granted


def test_what_was_recorded_did_happen(stack: Stack) -> None:
    with recorded() as used:
        stack.enqueue()
        boto3.client("dynamodb").scan(TableName="api-keys")
    assert used == {("dynamodb:PutItem", "JobsTable.Arn"), ("dynamodb:Scan", "ApiKeysTable.Arn")}
