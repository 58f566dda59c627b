"""Complete, fail, heartbeat and release: faults 3, 5, 14 and 20 among them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.job import JobStatus
from tests.support.callers import admin, producer, worker
from tests.support.clock import START
from tests.support.http import Stack, moment

HELD = ["complete_job", "fail_job", "heartbeat_job", "release_job"]
UNKNOWN = "job_01M8N4C1RBB1Q714Z4VNBP87AS"


def test_complete(stack: Stack) -> None:
    job_id = stack.enqueue()
    token = stack.claim()["lease_token"]
    result = {"sent": [1, 2.5, None, "é"]}
    answer = stack.call(
        "complete_job", job_id, caller=worker(), body={"lease_token": token, "result": result}
    )
    assert answer.status == 200
    assert answer.json["status"] == "completed"
    assert "lease_token" not in answer.json
    assert stack.read(job_id).result == result


def test_a_repeated_complete_is_answered_again(stack: Stack) -> None:
    job_id = stack.enqueue()
    body = {"lease_token": stack.claim()["lease_token"], "result": 1}
    first = stack.call("complete_job", job_id, caller=worker(), body=body)
    stack.clock.advance(1)
    again = stack.call("complete_job", job_id, caller=worker(), body=body)
    assert again.status == 200
    assert again.json == first.json
    other = stack.call("complete_job", job_id, caller=worker(), body={**body, "result": 2})
    assert other.status == 409
    assert stack.read(job_id).result == 1


@pytest.mark.parametrize("function", HELD)
def test_what_is_not_held_is_409(stack: Stack, function: str) -> None:
    pending = stack.enqueue()
    for job_id in (UNKNOWN, "job_nope", pending):
        answer = stack.call(function, job_id, caller=worker())
        assert (answer.status, answer.problem) == (409, "job-not-held")
    stack.claim(worker("mailer"))
    for caller, body in (
        (worker("printer"), {}),
        (worker("mailer"), {"lease_token": "another"}),
    ):
        answer = stack.call(function, pending, caller=caller, body=body)
        assert (answer.status, answer.problem) == (409, "job-not-held")
    assert stack.read(pending).status is JobStatus.RUNNING
    assert len(stack.items()) == 1


def test_fault_3_a_holder_of_yesterday(stack: Stack) -> None:
    job_id = stack.enqueue()
    first = stack.claim(worker("w1"))
    stack.clock.advance(66)
    second = stack.claim(worker("w1"))
    assert second["id"] == job_id
    before = stack.items()
    stale = stack.call(
        "complete_job", job_id, caller=worker("w1"), body={"lease_token": first["lease_token"]}
    )
    assert stale.status == 409
    assert stack.items() == before
    good = stack.call(
        "complete_job", job_id, caller=worker("w1"), body={"lease_token": second["lease_token"]}
    )
    assert good.status == 200


def test_fault_5_a_heartbeat_after_the_end(stack: Stack) -> None:
    job_id = stack.enqueue()
    body = {"lease_token": stack.claim()["lease_token"]}
    stack.call("complete_job", job_id, caller=worker(), body=body)
    before = stack.items()
    answer = stack.call("heartbeat_job", job_id, caller=worker(), body={**body, "progress": 1})
    assert answer.status == 409
    assert stack.items() == before


def test_fault_5_an_id_that_never_was(stack: Stack) -> None:
    for job_id in ("job_nope", UNKNOWN):
        answer = stack.call("complete_job", job_id, caller=worker(), body={"lease_token": "t", "result": 1})
        assert (answer.status, answer.problem) == (409, "job-not-held")
    assert stack.items() == []


def test_fail_with_retries_left(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("fail_job", job_id, caller=worker(), body={"error": "it broke"})
    assert answer.status == 200
    assert (answer.json["status"], answer.json["retry_count"]) == ("pending", 1)
    assert answer.json["worker_id"] is None
    assert START < moment(answer.json["available_at"]) <= START + timedelta(seconds=5)


def test_fault_20_no_retries_are_fine_and_the_first_failure_is_the_last(stack: Stack) -> None:
    job_id = stack.enqueue(max_retries=0)
    stack.claim()
    assert stack.call("fail_job", job_id, caller=worker()).json["status"] == "failed"


@pytest.mark.parametrize("max_retries", [-1, True, "3", 1.5, 101])
def test_fault_20_retries_that_are_none(stack: Stack, max_retries: Any) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={"type": "note", "max_retries": max_retries})
    assert answer.status == 422
    assert list(answer.fields) == ["max_retries"]


def test_fault_20_backoff_never_overflows(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.client.update_item(
        TableName="jobs",
        Key={"id": {"S": job_id}},
        UpdateExpression="SET retry_count = :count, max_retries = :most",
        ExpressionAttributeValues={":count": {"N": "2000"}, ":most": {"N": "5000"}},
    )
    stack.claim()
    answer = stack.call("fail_job", job_id, caller=worker())
    assert (answer.json["status"], answer.json["retry_count"]) == ("pending", 2001)
    assert START < moment(answer.json["available_at"]) <= START + timedelta(seconds=900)


def test_fault_14_half_a_surrogate_pair_in_an_error_is_mended(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("fail_job", job_id, caller=worker(), body='{"error":"a\\ud83db\\ud83d\\ude00"}')
    assert answer.status == 200
    assert stack.read(job_id).error == "a\ufffdb😀"


def test_a_long_error_is_cut(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    assert stack.call("fail_job", job_id, caller=worker(), body={"error": "é" * 20_000}).status == 200
    error = stack.read(job_id).error
    assert error is not None
    assert len(error.encode()) <= 1024


@pytest.mark.parametrize("seconds", [0, 604_800])
def test_a_worker_may_say_when_to_retry(stack: Stack, seconds: int) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("fail_job", job_id, caller=worker(), body={"retry_in_seconds": seconds})
    assert moment(answer.json["available_at"]) == START + timedelta(seconds=seconds)


def test_a_worker_may_give_up(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("fail_job", job_id, caller=worker(), body={"discard": True, "retry_in_seconds": None})
    assert (answer.json["status"], answer.json["retry_count"]) == ("failed", 0)


@pytest.mark.parametrize(
    ("function", "body", "errors"),
    [
        ("fail_job", {"discard": True, "retry_in_seconds": 1}, {"discard": "conflict"}),
        (
            "fail_job",
            {"discard": True, "retry_in_seconds": 0, "error": 1, "x": 1},
            {"discard": "conflict", "error": "wrong_type", "x": "unknown_field"},
        ),
        ("fail_job", {"discard": 1}, {"discard": "wrong_type"}),
        ("fail_job", {"discard": "true"}, {"discard": "wrong_type"}),
        ("fail_job", {"retry_in_seconds": -1}, {"retry_in_seconds": "out_of_range"}),
        ("fail_job", {"retry_in_seconds": 604_801}, {"retry_in_seconds": "out_of_range"}),
        ("fail_job", {"retry_in_seconds": 1.5}, {"retry_in_seconds": "wrong_type"}),
        ("fail_job", {"error": ["a"]}, {"error": "wrong_type"}),
        ("complete_job", {"lease_token": ""}, {"lease_token": "too_short"}),
        ("complete_job", {"lease_token": "t" * 256}, {"lease_token": "too_long"}),
        ("complete_job", {"lease_token": 7}, {"lease_token": "wrong_type"}),
        ("complete_job", {"results": 1}, {"results": "unknown_field"}),
        ("complete_job", {"result": "x" * 65_535}, {"result": "too_long"}),
        ("heartbeat_job", {"lease_seconds": 4}, {"lease_seconds": "out_of_range"}),
        ("heartbeat_job", {"lease_seconds": 43_201}, {"lease_seconds": "out_of_range"}),
        ("heartbeat_job", {"progress": "x" * 1023}, {"progress": "too_long"}),
        ("release_job", {"delay_seconds": -1}, {"delay_seconds": "out_of_range"}),
        ("release_job", {"delay_seconds": 31_536_001}, {"delay_seconds": "out_of_range"}),
        ("release_job", {"delay_seconds": "1"}, {"delay_seconds": "wrong_type"}),
        ("release_job", {"worker_id": "key:mailer"}, {"worker_id": "unknown_field"}),
    ],
)
def test_bodies_that_are_wrong(
    stack: Stack, function: str, body: dict[str, Any], errors: dict[str, str]
) -> None:
    job_id = stack.enqueue()
    stack.claim()
    before = stack.items()
    answer = stack.call(function, job_id, caller=worker(), body=body)
    assert answer.status == 422
    assert answer.fields == errors
    assert stack.items() == before


def test_the_largest_result_and_progress(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    assert stack.call("heartbeat_job", job_id, caller=worker(), body={"progress": "x" * 1022}).status == 200
    assert stack.call("complete_job", job_id, caller=worker(), body={"result": "x" * 65_534}).status == 200


def test_heartbeat(stack: Stack) -> None:
    job_id = stack.enqueue()
    token = stack.claim()["lease_token"]
    stack.clock.advance(30)
    body = {"lease_token": token, "lease_seconds": 100, "progress": {"done": 3}}
    answer = stack.call("heartbeat_job", job_id, caller=worker(), body=body)
    assert answer.status == 200
    assert answer.json == {"lease_expires_at": "2026-11-30T02:28:12.123456Z", "cancel_requested": False}
    assert stack.call("get_job", job_id, caller=producer()).json["progress"] == {"done": 3}


def test_a_heartbeat_never_shortens(stack: Stack) -> None:
    job_id = stack.enqueue()
    expires_at = stack.claim(lease_seconds=600)["lease_expires_at"]
    answer = stack.call("heartbeat_job", job_id, caller=worker(), body={"lease_seconds": 5})
    assert (answer.status, answer.json["lease_expires_at"]) == (200, expires_at)


def test_a_heartbeat_says_that_the_job_should_stop(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    assert stack.call("cancel_job", job_id, caller=producer()).json["cancel_requested"] is True
    assert stack.call("heartbeat_job", job_id, caller=worker()).json["cancel_requested"] is True
    assert stack.call("release_job", job_id, caller=worker()).json["status"] == "cancelled"


def test_release(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call("release_job", job_id, caller=worker())
    assert (answer.json["status"], answer.json["retry_count"]) == ("pending", 0)
    assert answer.json["available_at"] == "2026-11-30T02:26:02.123456Z"
    stack.claim()
    later = stack.call("release_job", job_id, caller=worker(), body={"delay_seconds": 60})
    assert moment(later.json["available_at"]) == START + timedelta(seconds=60)


@pytest.mark.parametrize("function", HELD)
@pytest.mark.parametrize("caller", [producer(), admin()], ids=["producer", "admin"])
def test_only_workers_hold(stack: Stack, function: str, caller: Any) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call(function, job_id, caller=caller)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")
