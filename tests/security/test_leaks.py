"""What callers write, and what they are let in by, comes out again nowhere but in the job itself.

The plugin of `tests.support.leaks` fails every test in whose log lines, metrics, events, problem details or
answers something comes out. Here something is put into each place that a caller can write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from jobqueue import telemetry
from jobqueue.authorizer import open_authorizer
from jobqueue.errors import JobQueueError
from jobqueue.keys import create_key
from jobqueue.metrics import Metric, count
from tests.security.attackers import ROUTES
from tests.support.callers import admin, producer, worker
from tests.support.events import http_event
from tests.support.faults import broken, throttled
from tests.support.http import Stack
from tests.support.imports import FUNCTIONS, JOBTYPES, LIBRARY, imported, sources
from tests.support.issuer import claims, signed
from tests.support.lambdas import Context, event
from tests.support.leaks import CANARY, Leaks
from tests.support.log import captured_log

NAMED = f"{CANARY.lower()}-queue"
"""A queue that a caller asks for; the letters are those of a queue."""
HOSTILE_HEADERS = {
    "user-agent": CANARY,
    "cookie": f"session={CANARY}",
    "referer": f"https://{CANARY}.example",
    "x-forwarded-for": CANARY,
    "x-amzn-trace-id": f"Root={CANARY}",
    "x-api-key": CANARY,
}


@pytest.fixture
def leaks() -> Iterator[Leaks]:
    """What comes out in this test, beside the watch that fails it."""
    leaks = Leaks()
    with leaks.watching():
        yield leaks


def bodies() -> Iterator[Any]:
    """Make a body with something in each field that a caller can write, right and wrong."""
    text = f"a {CANARY} b"
    yield {"type": "note", "payload": {text: text}, "idempotency_key": text}
    yield {"type": text, "queue": NAMED, "priority": text, "run_at": text, "max_retries": text}
    yield {"type": "email", "payload": {"to": text, "subject": text * 99, "body": [text]}}
    yield {"queues": [NAMED], "lease_seconds": text, "max_jobs": text}
    yield {"queues": [text], "max_jobs": 1}
    yield {"lease_token": text, "result": {text: text}, "error": text, "progress": text}
    yield {
        "lease_token": text,
        "error": f"postgres://u:{CANARY}@h",
        "retry_in_seconds": text,
        "discard": text,
    }
    yield {"jobs": [{"type": text, "payload": {"a": text}}, {"id": text, "lease_token": text}, text]}
    yield {"status": text, "type": text, "finished_before": text}
    yield f'{{"{CANARY}": 1, "{CANARY}": 2}}'
    yield f"{CANARY}{{"
    yield f'{{"payload": "{CANARY}\\ud83d"}}'


@pytest.mark.parametrize("function", ROUTES)
def test_whatever_is_sent_comes_out_nowhere(stack: Stack, leaks: Leaks, function: str) -> None:
    job_id = ROUTES[function].job_id
    queue = ROUTES[function].queue and NAMED
    headers = HOSTILE_HEADERS | {"idempotency-key": f'"{CANARY}"'}
    is_read = function.startswith(("get", "list"))
    requests: list[dict[str, Any]] = [
        {"job_id": path_id, "queue": queue, "body": body}
        for body in ([None] if is_read else bodies())
        for path_id in {job_id, job_id and f"job_{CANARY}"}
    ]
    if function == "list_jobs":
        parameters = {"status": CANARY, "queue": NAMED, "type": CANARY, "limit": CANARY, "cursor": CANARY}
        requests += [{"query": {name: value}} for name, value in parameters.items()]
    callers = (producer("shop"), worker("mailer"), admin("ops"))
    answers = [
        stack.call(function, caller=caller, headers=headers, **request)
        for caller in callers
        for request in requests
    ]
    assert all(answer.status < 500 for answer in answers)
    assert is_read or len(answers) >= 36
    assert leaks.take() == []


def test_what_a_job_carries_through_its_life_comes_out_in_the_job_alone(stack: Stack, leaks: Leaks) -> None:
    job_id = stack.enqueue(payload={"a": CANARY}, idempotency_key=CANARY, max_retries=1)
    held = stack.claim()
    token = held["lease_token"]
    assert CANARY in json.dumps(held["payload"])
    steps: list[tuple[str, dict[str, Any]]] = [
        ("heartbeat_job", {"progress": {"at": CANARY}}),
        ("fail_job", {"error": f"password={CANARY} refused by {CANARY}", "retry_in_seconds": 0}),
    ]
    for function, body in steps:
        assert (
            stack.call(function, job_id, caller=worker(), body={"lease_token": token, **body}).status == 200
        )
    token = stack.claim()["lease_token"]
    body = {"lease_token": token, "result": {"r": CANARY}}
    assert stack.call("complete_job", job_id, caller=worker(), body=body).status == 200
    again = stack.call("complete_job", job_id, caller=worker(), body={**body, "result": {"r": f"{CANARY}2"}})
    assert again.problem == "replay-mismatch"
    seen = stack.call("get_job", job_id, caller=producer("other")).text
    assert CANARY not in seen.replace('"progress"', "")
    assert CANARY not in stack.call("list_jobs", caller=producer("shop")).text
    assert leaks.take() == []
    assert leaks.told["log line"] >= 8


@pytest.mark.parametrize("trouble", ["throttled", "broken"])
def test_not_even_when_dynamodb_is_in_trouble(stack: Stack, leaks: Leaks, trouble: str) -> None:
    body = {"type": "note", "payload": {"a": CANARY}, "idempotency_key": CANARY}
    fault: AbstractContextManager[object] = (
        throttled(stack.client)
        if trouble == "throttled"
        else broken(stack.client, RuntimeError(f"no {CANARY}"))
    )
    with fault:
        answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert answer.status == (503 if trouble == "throttled" else 500)
    assert leaks.take() == []


CREDENTIALS = {
    "another key": f"Bearer jq_{CANARY.ljust(43, 'A')}",
    "no key": f"Bearer {CANARY}",
    "basic": f"Basic {CANARY}",
    "a token": f"Bearer {signed(claims(sub=CANARY, jti=CANARY))}",
    "two": f"Bearer {CANARY}, Bearer {CANARY}",
}


@pytest.mark.parametrize("header", CREDENTIALS.values(), ids=CREDENTIALS)
def test_no_credential_comes_out(stack: Stack, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    authorizer = open_authorizer(client=stack.client)
    monkeypatch.setattr(import_module("functions.authorize_request.app"), "authorizer", authorizer)
    secret = header.rpartition(" ")[2]
    leaks = Leaks(secret)
    with leaks.watching():
        answer = stack.call("list_jobs", headers={"authorization": header})
        assert answer.status == 403
        past_the_gateway = stack.send("list_jobs", http_event("list_jobs", headers={"authorization": header}))
        assert past_the_gateway.status == 403
    assert leaks.take() == []
    assert leaks.told["log line"] == 2


def test_no_good_credential_comes_out_either(stack: Stack) -> None:
    key = create_key("shop", role="producer")
    leaks = Leaks(key.removeprefix("jq_"))
    with leaks.watching():
        answer = stack.call("enqueue_job", caller=key, body={"type": "note", "payload": {"a": 1}})
        assert answer.status == 201
    assert key not in answer.text
    assert leaks.take() == []
    assert leaks.told["log line"] == 2


def test_no_event_or_count_carries_what_a_job_carries(
    stack: Stack, leaks: Leaks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENT_BUS", "leaks")
    boto3.client("events").create_event_bus(Name="leaks")
    app = import_module("functions.follow_jobs.app")
    app.follower.cache_clear()
    sent = event("follow_jobs")
    for record in sent["Records"]:
        for image in ("OldImage", "NewImage"):
            carried = (
                "payload",
                "result",
                "error",
                "idempotency_key",
                "lease_token",
                "progress",
                "fingerprint",
            )
            record["dynamodb"].get(image, {}).update({name: {"S": CANARY} for name in carried})
    app.lambda_handler(sent, Context())
    assert leaks.told["event"]
    assert leaks.told["metric line"]
    assert leaks.take() == []
    app.follower.cache_clear()


def test_what_a_schedule_carries_is_in_no_error_that_lambda_logs(stack: Stack, leaks: Leaks) -> None:
    fire = import_module("functions.enqueue_scheduled.app").lambda_handler
    tick = event("enqueue_scheduled")
    for job in (
        {"type": CANARY, "payload": {}},
        {"type": "email", "payload": {"to": CANARY}},
        {"type": "email", "payload": CANARY},
        {"type": "email", "priority": CANARY},
        CANARY,
    ):
        with pytest.raises(JobQueueError) as raised:
            fire(tick | {"job": job}, Context())
        assert CANARY not in str(raised.value)
    assert leaks.take() == []


def test_the_watch_hears_what_comes_out(stack: Stack) -> None:
    leaks = Leaks("sparrow")
    with leaks.watching(), captured_log():
        telemetry.decision("test", "a Sparrow")
        count(Metric.ENQUEUED, queue="sparrow", type="note")
    assert [one.partition(":")[0] for one in leaks.take()] == ["log line", "metric line"]
    telling = {"headers": {"Content-Type": "application/json"}}
    telling_jobs: tuple[tuple[str, dict[str, Any]], ...] = (
        ("producer", {"error": None}),
        ("admin", {"lease_token": "t"}),
        ("worker", {"errors": []}),
        ("producer", {"payload": {}, "created_by": "key:other"}),
        ("producer", {"idempotency_key": None}),
        ("worker", {"result": None, "worker_id": "key:other", "status": "running"}),
        ("worker", {"payload": {}, "worker_id": "key:me", "status": "completed"}),
        ("worker", {"idempotency_key": "k", "worker_id": "key:me", "status": "running"}),
    )
    for role, job in telling_jobs:
        alone = {"type": "note", **job}
        for body in (alone, {"jobs": [alone]}, {"results": [{"status": 200, "job": alone}]}):
            caller = {"role": role, "principal": "key:me"}
            leaks.look_at_answer("get_job", caller, {**telling, "body": json.dumps(body)})
            assert len(leaks.take()) == 1
    problem = {"type": "urn:jobqueue:problem:x", "detail": "a sparrow", "instance": "/"}
    for told in (problem, {"results": [{"status": 422, "problem": problem}]}):
        leaks.look_at_answer("enqueue_jobs", {"role": "producer"}, {**telling, "body": json.dumps(told)})
        assert len(leaks.take()) == 1


def test_the_watch_is_content_with_what_one_may_see() -> None:
    leaks = Leaks()
    own: dict[str, Any] = {"payload": {}, "result": None, "idempotency_key": "k", "created_by": "key:me"}
    done: dict[str, Any] = {
        "result": 7,
        "created_by": "key:other",
        "worker_id": "key:me",
        "status": "completed",
    }
    held = {**done, "payload": {}, "status": "running"}
    for role, job in (("producer", own), ("worker", held), ("worker", done), ("admin", own | {"error": "e"})):
        answer = {
            "headers": {"Content-Type": "application/json"},
            "body": json.dumps({"type": "note", **job}),
        }
        leaks.look_at_answer("get_job", {"role": role, "principal": "key:me"}, answer)
    assert leaks.take() == []
    assert leaks.told["answer"] == 4


def test_nothing_is_written_into_traces() -> None:
    # Lambda traces each call by itself; that a library of X-Ray could add what it sees is ruled out
    modules = [source for folder in (LIBRARY, JOBTYPES, FUNCTIONS) for source in sources(folder)]
    assert len(modules) >= 50
    adding = {
        name
        for source in modules
        for name in imported(source)
        if "xray" in name or "opentelemetry" in name or "tracing" in name or name.endswith(".Tracer")
    }
    assert adding == set()


def test_the_watch_sees_traces() -> None:
    leaks = Leaks("sparrow")
    client = boto3.client("xray")
    with leaks.watching(), Stubber(client) as stubber:
        stubber.add_response("put_trace_segments", {})
        client.put_trace_segments(TraceSegmentDocuments=['{"metadata": "a sparrow"}'])
    assert [one.partition(":")[0] for one in leaks.take()] == ["trace"]
