"""POST /jobs/claim: faults 1, 8 and 24 among it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.job import JobPriority, JobStatus
from tests.support.botofaults import Faults
from tests.support.callers import admin, producer, worker
from tests.support.clock import START
from tests.support.faults import counted, lost_reply
from tests.support.http import Stack, moment


def test_a_claim_tells_everything_that_a_worker_needs(stack: Stack) -> None:
    job_id = stack.enqueue(payload={"a": 1}, max_retries=2)
    job = stack.claim(worker("mailer"))
    token = job.pop("lease_token")
    assert isinstance(token, str)
    assert len(token) >= 22
    assert job == {
        "id": job_id,
        "type": "note",
        "queue": "default",
        "priority": "low",
        "status": "running",
        "retry_count": 0,
        "max_retries": 2,
        "available_at": "2026-11-30T02:26:02.123456Z",
        "created_by": "key:shop",
        "created_at": "2026-11-30T02:26:02.123456Z",
        "updated_at": "2026-11-30T02:26:02.123456Z",
        "worker_id": "key:mailer",
        "claimed_at": "2026-11-30T02:26:02.123456Z",
        "finished_at": None,
        "lease_expires_at": "2026-11-30T02:27:02.123456Z",
        "cancel_requested": False,
        "progress": None,
        "payload": {"a": 1},
        "result": None,
    }


def test_nothing_to_do(stack: Stack) -> None:
    answer = stack.call("claim_job", caller=worker())
    assert answer.status == 204
    assert answer.text == ""
    assert 1 <= int(answer.headers["retry-after"]) <= 5


def test_the_most_urgent_first_then_the_oldest(stack: Stack) -> None:
    caller = producer(max_priority=JobPriority.CRITICAL)
    made = {}
    for number, priority in enumerate(["low", "critical", "medium", "low", "critical"]):
        made[number] = stack.enqueue(caller, priority=priority)
        stack.clock.advance(1)
    assert [stack.claim()["id"] for _ in made] == [made[number] for number in (1, 4, 2, 0, 3)]


def test_only_from_the_queues_that_are_asked_for(stack: Stack) -> None:
    stack.enqueue()
    report = stack.enqueue(queue="reports")
    assert stack.claim(queues=["reports"])["id"] == report
    assert stack.call("claim_job", caller=worker(), body={"queues": ["reports"]}).status == 204


def test_only_from_the_queues_that_are_granted(stack: Stack) -> None:
    stack.enqueue(queue="reports")
    caller = worker("mailer", "default", "emails")
    assert stack.call("claim_job", caller=caller).status == 204
    refused = stack.call("claim_job", caller=caller, body={"queues": ["emails", "reports"]})
    assert (refused.status, refused.problem) == (403, "queue-not-allowed")


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"worker_id": "key:other"}, "worker_id", "unknown_field"),
        ({"queues": []}, "queues", "too_short"),
        ({"queues": "default"}, "queues", "wrong_type"),
        ({"queues": [1]}, "queues.0", "wrong_type"),
        ({"queues": ["nope"]}, "queues", "unknown_queue"),
        ({"queues": ["default"] * 101}, "queues", "too_long"),
        ({"lease_seconds": 4}, "lease_seconds", "out_of_range"),
        ({"lease_seconds": 43_201}, "lease_seconds", "out_of_range"),
        ({"lease_seconds": "60"}, "lease_seconds", "wrong_type"),
        ({"lease_seconds": 60.0}, "lease_seconds", "wrong_type"),
        ({"lease_seconds": True}, "lease_seconds", "wrong_type"),
        ({"lease_seconds": 10**30}, "lease_seconds", "out_of_range"),
    ],
)
def test_a_claim_that_is_wrong(stack: Stack, body: dict[str, Any], field: str, code: str) -> None:
    job_id = stack.enqueue()
    answer = stack.call("claim_job", caller=worker(), body=body)
    assert answer.status == 422
    assert answer.fields == {field: code}
    assert stack.read(job_id).status is JobStatus.PENDING


@pytest.mark.parametrize("seconds", [5, 43_200])
def test_the_lease_is_as_long_as_asked(stack: Stack, seconds: int) -> None:
    stack.enqueue()
    job = stack.claim(lease_seconds=seconds)
    assert moment(job["lease_expires_at"]) == START + timedelta(seconds=seconds)


@pytest.mark.parametrize("caller", [producer(), admin()], ids=["producer", "admin"])
def test_only_workers_claim(stack: Stack, caller: Any) -> None:
    stack.enqueue()
    answer = stack.call("claim_job", caller=caller)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")


def test_fault_1_the_reply_to_a_claim_is_lost(stack: Stack) -> None:
    job_id = stack.enqueue()
    with lost_reply(stack.client, "UpdateItem"):
        answer = stack.call("claim_job", caller=worker("mailer"))
    assert answer.status == 200
    assert answer.json["id"] == job_id
    stored = stack.read(job_id)
    assert stored.status is JobStatus.RUNNING
    assert stored.worker_id == "key:mailer"
    assert stored.lease_token == answer.json["lease_token"]
    assert stored.retry_count == 0


@pytest.mark.parametrize("key", ["K", None])
def test_fault_2_the_reply_to_an_enqueue_is_lost(stack: Stack, key: str | None) -> None:
    with lost_reply(stack.client, "PutItem"):
        answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", "idempotency_key": key})
    assert answer.status == 201
    assert [item["id"]["S"] for item in stack.items()] == [answer.json["id"]]


def test_fault_8_an_index_that_lags_behind(stack: Stack) -> None:
    late_by = 0
    with Faults.of(stack.client).stale_index(lambda: late_by):
        jobs = []
        for _ in range(6):
            jobs.append(stack.enqueue())
            stack.clock.advance(1)
        assert [stack.claim()["id"] for _ in range(5)] == jobs[:5]
        late_by = 5  # it shows all six as waiting
        assert stack.claim()["id"] == jobs[5]


def test_a_job_is_found_right_after_it_was_made(stack: Stack) -> None:
    job_id = stack.enqueue()
    assert stack.call("get_job", job_id, caller=producer()).status == 200


def test_fault_24_an_empty_queue_costs_queries_only(stack: Stack) -> None:
    with counted(stack.client) as first:
        assert stack.call("claim_job", caller=worker()).status == 204
    assert set(first) == {"Query", "BatchGetItem"}
    with counted(stack.client) as sent:
        for _ in range(50):
            assert stack.call("claim_job", caller=worker()).status == 204
    # what is paused is known for ten seconds
    assert dict(sent) == {"Query": 50 * first["Query"]}


def test_an_expired_lease_is_taken_over(stack: Stack) -> None:
    job_id = stack.enqueue()
    first = stack.claim(worker("mailer"))
    stack.clock.advance(66)
    second = stack.claim(worker("printer"))
    assert second["id"] == job_id
    assert second["retry_count"] == 1
    assert second["lease_token"] != first["lease_token"]
