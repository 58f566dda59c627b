"""Something secret is put into each place that a caller can write, over HTTP.

When the tests are done with a stack, `watched` of the conftest looks for it in all that the stack told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from jobqueue.keys import create_key
from local.curl import QUEUE
from tests.e2e.jobs import JsonObject, claimed, email, enqueued, seen
from tests.e2e.running import Stack, wait_until
from tests.e2e.watch import Credentials, Watch
from tests.support.issuer import claims, signed
from tests.support.leaks import CANARY
from tests.support.receiver import Receiver, receiving

SECRET = f"a {CANARY} b"
LETTER = {"to": f"{CANARY}@example.com", "subject": SECRET, "body": SECRET}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        running.body = SECRET.encode()
        yield running


def sent(stack: Stack, role: str, path: str, body: Any, status: int = 200) -> JsonObject:
    answer = stack.call(role, "POST", path, body)
    assert answer.status_code == status, answer.text
    told: JsonObject = answer.json()
    return told


def test_what_a_job_carries_goes_through_its_life(empty: Stack) -> None:
    job = enqueued(empty, payload=LETTER, idempotency_key=f"{CANARY}-1", max_retries=1)
    path = f"/jobs/{job['id']}"
    first = claimed(empty)
    assert first["payload"] == LETTER
    held = {"lease_token": first["lease_token"]}
    sent(empty, "worker", f"{path}/heartbeat", held | {"progress": {SECRET: SECRET}})
    sent(empty, "worker", f"{path}/release", held)
    held = {"lease_token": claimed(empty)["lease_token"]}
    sent(empty, "worker", f"{path}/fail", held | {"error": SECRET, "retry_in_seconds": 0})
    assert seen(empty, job)["error"] == SECRET
    held = {"lease_token": claimed(empty)["lease_token"]}
    sent(empty, "worker", f"{path}/fail", held | {"error": f"password={CANARY} of {CANARY}"})
    sent(empty, "admin", f"{path}/retry", {})
    sent(empty, "producer", f"{path}/cancel", {})
    many = {"jobs": [email(payload=LETTER, idempotency_key=f"{CANARY}-{number}") for number in (2, 3)]}
    sent(empty, "producer", "/jobs/batch", many)
    taken = sent(empty, "worker", "/jobs/batch/claim", {"queues": [QUEUE], "max_jobs": 2})["jobs"]
    done = [{"id": one["id"], "lease_token": one["lease_token"], "result": {SECRET: SECRET}} for one in taken]
    results = sent(empty, "worker", "/jobs/batch/complete", {"jobs": done})["results"]
    assert [result["status"] for result in results] == [200, 200]


def test_what_the_stack_s_own_worker_does_is_not_told_either(stack: Stack, receiver: Receiver) -> None:
    receiver.status, receiver.headers = 410, {"x-more": SECRET}
    payload = {
        "url": receiver.url(path=f"/{CANARY}?token={CANARY}"),
        "headers": {"X-Secret": SECRET},
        "body": {SECRET: SECRET},
    }
    jobs = [
        sent(stack, "producer", "/jobs", {"type": "webhook", "payload": payload}, 201),
        sent(stack, "producer", "/jobs", {"type": "email", "payload": LETTER}, 201),
    ]
    wait_until(lambda: all(seen(stack, job)["finished_at"] for job in jobs))
    assert [seen(stack, job)["status"] for job in jobs] == ["failed", "completed"]
    assert CANARY in json.dumps([request.path for request in receiver.received])


def test_what_is_refused_is_not_told(stack: Stack) -> None:
    bodies: list[Any] = [
        {SECRET: SECRET},
        {"type": SECRET, "payload": {SECRET: SECRET}, "idempotency_key": SECRET},
        {"type": "email", "payload": {"to": SECRET}, "queue": CANARY.lower()},
        {"lease_token": SECRET, "error": SECRET, "result": SECRET, "progress": SECRET},
        {"jobs": [{"id": SECRET, "lease_token": SECRET, "result": SECRET}, {"type": SECRET}]},
        {"queues": [CANARY.lower()], "max_jobs": SECRET},
        [SECRET],
    ]
    paths = ("/jobs", "/jobs/batch", "/jobs/claim", f"/jobs/job_{CANARY}/complete", "/jobs/batch/complete")
    for role, path, body in product(("producer", "worker", "admin"), paths, bodies):
        answer = stack.call(role, "POST", path, body)
        # a batch answers for each of its items
        assert 400 <= answer.status_code < 500 or '"problem"' in answer.text
    for query in ("status", "queue", "type", "cursor", "limit", CANARY):
        assert stack.call("producer", "GET", f"/jobs?{query}={CANARY}").status_code in {400, 403, 422}


def test_no_credential_is_told_good_or_bad(stack: Stack) -> None:
    key = create_key(
        "leaky", role="producer", client=stack.aws.dynamodb(), table=stack.state.outputs["ApiKeysTableName"]
    )
    assert stack.call_as(key, "GET", "/jobs").status_code == 200
    bad = [f"jq_{CANARY.ljust(43, 'A')}", CANARY, key[:-1], f"{key}A", signed(claims(sub=CANARY))]
    for credential in bad:
        assert stack.call_as(credential, "GET", "/jobs").status_code == 403
    assert key in stack.credentials.known


def test_the_watch_finds_what_is_told(stack: Stack) -> None:
    logs, group = stack.aws.logs(), "/aws/lambda/jobqueue/of-the-test"
    credential = "jq_" + "sparrow".rjust(43, "x")
    watch = Watch(stack.state, stack.aws, Credentials([credential]), "nightingale")
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName="one")
    with watch.listening("watch-of-the-test"):
        assert watch.search() == []
        told = ["nothing", "a Nightingale", f"a {credential}"]
        logs.put_log_events(
            logGroupName=group,
            logStreamName="one",
            logEvents=[{"timestamp": 1_000 + number, "message": line} for number, line in enumerate(told)],
        )
        stack.aws.session.client("events", endpoint_url=stack.state.endpoint).put_events(
            Entries=[
                {
                    "Source": "jobqueue",
                    "DetailType": "test",
                    "Detail": json.dumps({"id": "a nightingale"}),
                    "EventBusName": stack.state.outputs["EventBusName"],
                }
            ]
        )
        found: list[str] = []

        def is_found() -> bool:
            found.extend(watch.search())
            return any(one.startswith("bus: ") for one in found)

        wait_until(is_found)
    logs.delete_log_group(logGroupName=group)
    assert {f"{group}: {line}" for line in told[1:]} <= set(found)
    assert watch.told["lines of deployed logs"] >= 3
