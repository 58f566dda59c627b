"""What operators do and see on the deployed stack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from local.curl import QUEUE
from tests.e2e.jobs import JsonObject, claimed, email, enqueued, seen, work
from tests.e2e.running import Stack, wait_until
from tests.support.emf import values


def queue(stack: Stack, name: str = QUEUE) -> JsonObject:
    answer = stack.call("admin", "GET", "/queues")
    assert answer.status_code == 200, answer.text
    (found,) = [one for one in answer.json()["queues"] if one["name"] == name]
    return dict(found)


def log(stack: Stack, function: str) -> str:
    """Return all that a function has logged."""
    pages = stack.aws.logs().get_paginator("filter_log_events")
    return "\n".join(
        event["message"]
        for page in pages.paginate(logGroupName=f"/aws/lambda/jobqueue/{function}")
        for event in page["events"]
    )


def lines(stack: Stack, function: str, **fields: Any) -> list[JsonObject]:
    """Return the decisions in the log of a function that have these fields."""
    logged = [json.loads(line) for line in log(stack, function).splitlines() if line.startswith('{"level"')]
    return [line for line in logged if line.items() >= fields.items()]


@pytest.fixture
def events(empty: Stack) -> Iterator[Any]:
    """Return a function that takes the events off the bus that came since."""
    make = empty.aws.session.client
    bus, sqs = (
        make("events", endpoint_url=empty.state.endpoint),
        make("sqs", endpoint_url=empty.state.endpoint),
    )
    name = empty.state.outputs["EventBusName"]
    url = sqs.create_queue(QueueName="what-happened")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus.put_rule(Name="everything", EventBusName=name, EventPattern='{"source": ["jobqueue"]}')
    bus.put_targets(Rule="everything", EventBusName=name, Targets=[{"Id": "queue", "Arn": arn}])

    def take() -> list[JsonObject]:
        answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    yield take
    bus.remove_targets(Rule="everything", EventBusName=name, Ids=["queue"])
    bus.delete_rule(Name="everything", EventBusName=name)
    sqs.delete_queue(QueueUrl=url)


def test_a_paused_queue_hands_nothing_out_until_it_is_resumed(empty: Stack) -> None:
    job = enqueued(empty)
    assert empty.call("admin", "POST", f"/queues/{QUEUE}/pause", {}).json() == {"name": QUEUE, "paused": True}
    try:
        wait_until(lambda: claim(empty) == 204)
        assert queue(empty)["paused"] is True
        enqueued(empty)
        assert claim(empty) == 204
    finally:
        resumed = empty.call("admin", "POST", f"/queues/{QUEUE}/resume", {})
    assert resumed.json() == {"name": QUEUE, "paused": False}
    taken: list[JsonObject] = []

    def is_handed_out() -> bool:
        answer = empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]})
        taken.extend([answer.json()] if answer.status_code == 200 else [])
        return bool(taken)

    wait_until(is_handed_out)
    assert taken[0]["id"] == job["id"]


def claim(stack: Stack) -> int:
    """Claim, and give back what is handed out; return the answer's status."""
    answer = stack.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]})
    if answer.status_code == 200:
        assert work(stack, answer.json(), "release").status_code == 200
    return answer.status_code


def test_only_admins_pause(empty: Stack) -> None:
    for role in ("producer", "worker"):
        assert empty.call(role, "POST", f"/queues/{QUEUE}/pause", {}).status_code == 403
    assert queue(empty)["paused"] is False


def test_counts_follow_what_happens(empty: Stack) -> None:
    before: list[JsonObject] = []

    def is_still() -> bool:
        before.append(queue(empty))
        return before[-1]["counts"]["running"] == 0 and len(before) > 1 and before[-1] == before[-2]

    wait_until(is_still)
    counts = before[-1]["counts"]
    enqueued(empty)
    enqueued(empty, priority="medium")
    assert work(empty, claimed(empty), "complete").status_code == 200
    expected = {**counts, "pending": {**counts["pending"], "low": counts["pending"]["low"] + 1}}
    expected["completed"] += 1
    wait_until(lambda: queue(empty)["counts"] == expected)
    assert queue(empty)["oldest_age_seconds"] >= 0


def test_failed_jobs_are_retried_in_bulk(empty: Stack) -> None:
    jobs = [enqueued(empty, max_retries=0) for _ in range(3)]
    for _ in jobs:
        assert work(empty, claimed(empty), "fail", error="no").status_code == 200
    body = {"status": "failed", "type": "email", "limit": 100}
    done = empty.call("admin", "POST", f"/queues/{QUEUE}/retry", body)
    assert done.status_code == 200, done.text
    assert done.json()["retried"] >= 3
    assert {seen(empty, job)["status"] for job in jobs} == {"pending"}


def test_depth_and_age_are_in_the_log(empty: Stack) -> None:
    enqueued(empty)
    function = empty.state.resources["MeasureQueuesFunction"]

    def is_measured() -> bool:
        answer = empty.aws.functions().invoke(FunctionName=function, Payload=b"{}")
        assert "FunctionError" not in answer
        text = log(empty, "measure_queues")
        dimensions = {"queue": QUEUE, "priority": "low"}
        ages, depths = values(text, "OldestAgeSeconds", **dimensions), values(text, "Depth", **dimensions)
        return any(age > 0 for age in ages) and any(depth >= 1 for depth in depths)

    wait_until(is_measured)


def test_an_event_of_what_happened_is_on_the_bus(empty: Stack, events: Any) -> None:
    job = enqueued(empty)
    assert work(empty, claimed(empty), "complete", result={"secret": 1}).status_code == 200
    found: list[JsonObject] = []

    def has_come() -> bool:
        found.extend(one for one in events() if one["detail"]["id"] == job["id"])
        return bool(found)

    wait_until(has_come)
    event = found[0]
    assert (event["source"], event["detail-type"]) == ("jobqueue", "JobCompleted")
    assert event["detail"]["status"] == "completed"
    assert event["detail"].keys() & {"payload", "result", "error", "errors", "idempotency_key"} == set()
    assert "ada@example.com" not in json.dumps(event)


def test_numbers_of_a_job_are_in_the_log(empty: Stack) -> None:
    enqueued(empty)
    assert work(empty, claimed(empty), "complete").status_code == 200

    def are_told() -> bool:
        text, dimensions = log(empty, "follow_jobs"), {"queue": QUEUE, "type": "email"}
        names = ("Enqueued", "Claimed", "Completed", "WaitSeconds", "RunSeconds")
        return all(values(text, name, **dimensions) for name in names)

    wait_until(are_told)


def test_a_trace_leads_from_the_request_to_the_run(stack: Stack) -> None:
    answer = stack.call("producer", "POST", "/jobs", email(queue="default"))
    assert answer.status_code == 201, answer.text
    job_id = answer.json()["id"]
    wait_until(lambda: bool(lines(stack, "work_jobs", job_id=job_id, outcome="completed")))
    (asked,) = lines(stack, "enqueue_job", job_id=job_id)
    (run,) = lines(stack, "work_jobs", job_id=job_id, outcome="completed")
    assert asked["enqueue_trace_id"] == run["enqueue_trace_id"]
    assert asked["xray_trace_id"] in {asked["enqueue_trace_id"], asked["enqueue_trace_id"].lower()}
