"""What a client and the log are told when something breaks: faults 22 and 23."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from jobqueue import errors, telemetry
from jobqueue.api import dependencies, problems, views
from jobqueue.api import errors as api_errors
from jobqueue.errors import FieldError, InvalidRequest, JobQueueError
from jobqueue.job import JobStatus
from jobqueue.keys import create_key
from tests.support.callers import admin, producer, worker
from tests.support.deployed import deployed_settings
from tests.support.faults import broken, throttled
from tests.support.http import ENVIRONMENT, Stack, handler
from tests.support.imports import LIBRARY, imported
from tests.support.log import captured_log, log_lines

CANARY = "CANARY4711"


def test_fault_23_three_throttled_calls_are_not_noticed(stack: Stack) -> None:
    with throttled(stack.client, 3) as refused:
        job_id = stack.enqueue()
    assert refused.total() == 3
    with throttled(stack.client, 3):
        assert stack.claim()["id"] == job_id


def test_fault_23_throttling_without_end_is_503(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim()
    before = stack.items()
    calls: list[tuple[str, Any, Any]] = [
        ("enqueue_job", producer(), {"type": "note"}),
        ("get_job", producer(), None),
        ("list_jobs", producer(), None),
        ("claim_job", worker(), None),
        ("claim_jobs", worker(), {"max_jobs": 2}),
        ("complete_job", worker(), {"lease_token": "t"}),
        ("fail_job", worker(), None),
        ("heartbeat_job", worker(), {"lease_token": "t", "lease_seconds": 60}),
        ("release_job", worker(), None),
        ("cancel_job", producer(), None),
        ("retry_job", admin(), None),
    ]
    for function, caller, body in calls:
        path_id = job_id if "{id}" in function or function.endswith("_job") else None
        with throttled(stack.client) as refused:
            answer = stack.call(function, path_id, caller=caller, body=body)
        assert (answer.status, answer.problem) == (503, "unavailable"), function
        assert 1 <= int(answer.headers["retry-after"]) <= 5
        assert refused.total() >= 4, function
    assert stack.items() == before
    assert stack.call("complete_job", job_id, caller=worker()).status == 200


def test_fault_23_in_a_batch(stack: Stack) -> None:
    with throttled(stack.client):
        answer = stack.call("enqueue_jobs", caller=producer(), body={"jobs": [{"type": "note"}] * 2})
    assert answer.status == 200
    assert [one["status"] for one in answer.json["results"]] == [503, 503]
    assert stack.items() == []


def test_an_unexpected_error_tells_the_request_and_nothing_else(stack: Stack) -> None:
    secret = RuntimeError(f"password={CANARY}")
    with captured_log() as log, broken(stack.client, secret):
        answer = stack.call("enqueue_job", caller=producer(), body={"type": "note"}, request_id="R-500")
    assert answer.status == 500
    assert answer.json == {
        "type": "urn:jobqueue:problem:internal-error",
        "title": "Internal error",
        "status": 500,
        "request_id": "R-500",
    }
    (line,) = [json.loads(text) for text in log().splitlines()]
    assert (line["level"], line["request_id"], line["error_class"]) == ("ERROR", "R-500", "RuntimeError")
    assert any("enqueue_job" in frame for frame in line["error_frames"])
    assert CANARY not in log()


def test_a_corrupt_item_is_an_internal_error(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.client.put_item(TableName="jobs", Item={"id": {"S": job_id}, "status": {"S": "odd"}})
    with captured_log() as log:
        assert stack.call("get_job", job_id, caller=admin()).status == 500
    assert '"error_class":"CorruptItem"' in log()


def test_an_answer_is_always_json(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = stack.enqueue()
    brief_view = views.brief_view
    monkeypatch.setattr(views, "brief_view", lambda job: {**brief_view(job), "progress": float("nan")})
    answer = stack.call("get_job", job_id, caller=worker())
    assert answer.json["progress"] is None


def test_a_function_without_its_environment_answers_500(
    monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    monkeypatch.delenv("JOBS_TABLE")
    with deployed_settings():
        answer = stack.call("get_job", "job_nope", caller=admin())
    assert (answer.status, answer.problem) == (500, "internal-error")


def test_a_function_opens_the_queue_of_its_environment_once(
    monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    job_id = stack.enqueue()
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    with deployed_settings():
        dependencies.open_early()
        opened = dependencies.queue()
        assert stack.call("get_job", job_id, caller=admin()).status == 200
        assert dependencies.queue() is opened


def test_every_error_that_a_request_can_meet_has_its_answer() -> None:
    below = (
        *("queue", "holding", "claiming", "listing", "newjob", "principal", "item", "settings", "jobtype"),
        *("throttle", "callers"),
    )
    met = {
        name.removeprefix("jobqueue.errors.")
        for module in below
        for name in imported(LIBRARY / f"{module}.py")
        if name.startswith("jobqueue.errors.")
    }
    ours = {
        name
        for name, value in vars(api_errors).items()
        if getattr(value, "__module__", "") == api_errors.__name__
    }
    answered = {error.__name__ for error in problems.KINDS}
    assert (met | ours) - answered == {"FieldError", "JobQueueError"} & met
    assert len(met) > 10


def test_statuses_and_names_are_told_apart() -> None:
    slugs = [kind.slug for kind in problems.KINDS.values() if kind is not problems.INTERNAL]
    assert len(slugs) == len(set(slugs))


def test_what_the_table_does_not_know_is_internal() -> None:
    class Subclass(errors.JobNotFound):
        """Another one."""

    assert problems.kind_of(Subclass()).slug == "job-not-found"
    assert problems.kind_of(ValueError("x")) is problems.INTERNAL
    assert problems.kind_of(JobQueueError()) is problems.INTERNAL


def test_field_errors_are_told_whole() -> None:
    told = problems.problem(
        InvalidRequest(FieldError("a.b", "missing", "a.b: is required")), instance="/jobs", request_id="R"
    )
    assert told["errors"] == [{"field": "a.b", "code": "missing", "message": "a.b: is required"}]


def test_fault_22_nothing_secret_is_logged_or_shown(stack: Stack) -> None:
    keys = {role: create_key(role, role=role, queues=("*",)) for role in ("producer", "worker")}
    secret_payload = {"password": CANARY}
    with captured_log() as log:
        body = {
            "type": "note",
            "payload": secret_payload,
            "idempotency_key": f"key-{CANARY}",
            "max_retries": 0,
        }
        job_id = stack.call("enqueue_job", caller=keys["producer"], body=body).json["id"]
        stack.call("enqueue_job", body=body, headers={"authorization": f"Bearer {CANARY}"})
        stack.call(
            "enqueue_job", caller=producer(), body={**body, CANARY: 1, "type": CANARY, "queue": CANARY}
        )
        stack.call(
            "enqueue_job", caller=producer(), body=body, headers={"x-secret": CANARY}, query={"a": CANARY}
        )
        stack.call("enqueue_job", caller=producer(), body=f'{{"type": {CANARY}')
        claimed = stack.call("claim_job", caller=keys["worker"]).json
        held = {"lease_token": claimed["lease_token"]}
        stack.call("heartbeat_job", job_id, caller=keys["worker"], body={**held, "progress": CANARY})
        stack.call(
            "fail_job", job_id, caller=keys["worker"], body={**held, "error": f"postgres://u:{CANARY}@h"}
        )
        seen = stack.call("get_job", job_id, caller=producer("other")).text
        seen += stack.call("get_job", job_id, caller=keys["producer"], headers={}).text
        seen += stack.call("list_jobs", caller=producer("other")).text
        stack.call("get_job", CANARY, caller=producer())
    assert CANARY not in log()
    assert claimed["lease_token"] not in log()
    assert all(key not in log() for key in keys.values())
    assert "postgres" not in seen
    assert CANARY not in stack.call("get_job", job_id, caller=admin()).json["error"]


def test_fault_22_no_line_tells_of_the_request_before(stack: Stack) -> None:
    first = stack.enqueue(producer("first"))
    telemetry.logger.append_keys(left_behind=CANARY)
    with log_lines() as lines:
        stack.call("get_job", first, caller=producer("second"), request_id="R2")
        stack.call("get_job", "job_nope", request_id="R3", headers={"authorization": "x"})
        handler("get_job")({}, None)
    text = json.dumps(lines)
    assert "key:first" not in text
    assert CANARY not in text
    assert lines[0]["principal"] == "key:second"
    assert "principal" not in lines[-1]
    assert "job_id" not in lines[-1]


def test_a_decision_is_one_line(stack: Stack) -> None:
    with log_lines() as lines:
        job_id = stack.enqueue(producer("shop"))
        stack.claim(worker("mailer"))
        stack.call("complete_job", job_id, caller=worker("other"))
    told = [
        {name: line.get(name) for name in ("action", "outcome", "status", "principal", "job_id")}
        for line in lines
    ]
    assert told == [
        {
            "action": "enqueue_job",
            "outcome": "pending",
            "status": 201,
            "principal": "key:shop",
            "job_id": job_id,
        },
        {
            "action": "claim_job",
            "outcome": "running",
            "status": 200,
            "principal": "key:mailer",
            "job_id": job_id,
        },
        {
            "action": "complete_job",
            "outcome": "job-not-held",
            "status": 409,
            "principal": "key:other",
            "job_id": job_id,
        },
    ]
    assert (lines[1]["job_type"], lines[1]["queue"], lines[1]["attempt"]) == ("note", "default", 1)
    assert {line["request_id"] for line in lines} == {"Umx5tgJcliAEPMg="}


def test_a_batch_is_one_line_for_each_job(stack: Stack) -> None:
    with log_lines() as lines:
        body = {"jobs": [{"type": "note"}, {"type": "nope"}]}
        stack.call("enqueue_jobs", caller=producer(), body=body)
        stack.call("claim_jobs", caller=worker(), body={"max_jobs": 5})
    assert [line["outcome"] for line in lines] == ["pending", "invalid-request", "ok", "running", "ok"]


@pytest.mark.parametrize("status", list(JobStatus))
def test_each_function_names_itself_in_the_log(stack: Stack, status: JobStatus) -> None:
    for function in ("enqueue_job", "retry_job", "claim_jobs"):
        assert import_module(f"functions.{function}.app").app.action == function
    assert set(ENVIRONMENT) >= {"JOBS_TABLE"}
    assert stack.call("list_jobs", caller=admin(), query={"status": status.value}).status == 200
