"""POST /jobs/batch, /jobs/batch/claim and /jobs/batch/complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from importlib import import_module
from typing import Any

import pytest

from jobqueue.api.batch import answer_each
from jobqueue.api.models import EnqueueJob
from jobqueue.job import Job, JobStatus
from tests.support.callers import admin, producer, worker
from tests.support.faults import broken
from tests.support.http import EMAIL, Stack
from tests.support.log import captured_log

HIDDEN = {"payload", "result", "idempotency_key", "error", "errors", "lease_token"}


def results(stack: Stack, function: str, caller: Any, jobs: list[Any]) -> list[dict[str, Any]]:
    answer = stack.call(function, caller=caller, body={"jobs": jobs})
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json["results"]
    assert len(found) == len(jobs)
    return found


def problem_of(result: dict[str, Any]) -> str:
    assert result.keys() == {"status", "problem"}
    assert result["problem"]["status"] == result["status"]
    return str(result["problem"]["type"]).removeprefix("urn:jobqueue:problem:")


def test_jobs_are_made_in_their_order(stack: Stack) -> None:
    made = results(
        stack, "enqueue_jobs", producer(), [{"type": "note", "payload": {"n": n}} for n in range(100)]
    )
    assert [one["status"] for one in made] == [201] * 100
    assert all(one["job"].keys() & HIDDEN == set() for one in made)
    payloads = [stack.read(one["job"]["id"]).payload for one in made]
    assert payloads == [{"n": n} for n in range(100)]


def test_each_item_is_answered_on_its_own(stack: Stack) -> None:
    stack.enqueue(idempotency_key="known")
    jobs: list[Any] = [
        {"type": "note"},
        {"type": "note", "idempotency_key": "known"},
        {"type": "note", "idempotency_key": "known", "payload": {"other": 1}},
        {"type": "nope", "max_retries": "3", "x": 1},
        {"type": "email", "payload": {**EMAIL, "to": "nobody"}},
        {"type": "note", "priority": "critical"},
        {},
        7,
        None,
        [],
        {"type": "note", "payload": {"a": "\ud83d"}},
        {"type": "report"},
    ]
    made = results(stack, "enqueue_jobs", producer("shop", "default", "emails"), jobs)
    assert [one["status"] for one in made] == [201, 200, 422, 422, 422, 403, 422, 422, 422, 422, 422, 403]
    assert problem_of(made[2]) == "idempotency-key-reused"
    assert problem_of(made[5]) == "priority-not-allowed"
    assert problem_of(made[11]) == "queue-not-allowed"
    errors = {error["field"]: error["code"] for error in made[3]["problem"]["errors"]}
    assert errors == {"type": "unknown_type", "max_retries": "wrong_type", "x": "unknown_field"}
    assert made[4]["problem"]["errors"][0]["field"] == "payload.to"
    assert {e["field"]: e["code"] for e in made[6]["problem"]["errors"]} == {"type": "missing"}
    assert made[7]["problem"]["request_id"] == "Umx5tgJcliAEPMg="
    assert len(stack.items()) == 2


def test_one_key_twice_in_a_batch_makes_one_job(stack: Stack) -> None:
    made = results(stack, "enqueue_jobs", producer(), [{"type": "note", "idempotency_key": "k"}] * 10)
    assert sorted(one["status"] for one in made) == [200] * 9 + [201]
    assert len({one["job"]["id"] for one in made}) == 1


@pytest.mark.parametrize(
    ("function", "caller", "body", "errors"),
    [
        ("enqueue_jobs", producer(), {"jobs": []}, {"jobs": "too_short"}),
        ("enqueue_jobs", producer(), {"jobs": [{}] * 101}, {"jobs": "too_long"}),
        ("enqueue_jobs", producer(), {"jobs": {}}, {"jobs": "wrong_type"}),
        ("enqueue_jobs", producer(), {"job": [{}]}, {"jobs": "missing", "job": "unknown_field"}),
        ("complete_jobs", worker(), {"jobs": []}, {"jobs": "too_short"}),
        ("complete_jobs", worker(), {"jobs": [{}] * 26}, {"jobs": "too_long"}),
        ("claim_jobs", worker(), {}, {"max_jobs": "missing"}),
        ("claim_jobs", worker(), {"max_jobs": 0}, {"max_jobs": "out_of_range"}),
        ("claim_jobs", worker(), {"max_jobs": 26}, {"max_jobs": "out_of_range"}),
        ("claim_jobs", worker(), {"max_jobs": 5.0}, {"max_jobs": "wrong_type"}),
        ("claim_jobs", worker(), {"max_jobs": 5, "worker_id": "x"}, {"worker_id": "unknown_field"}),
    ],
)
def test_a_batch_that_is_wrong_as_a_whole(
    stack: Stack, function: str, caller: Any, body: dict[str, Any], errors: dict[str, str]
) -> None:
    answer = stack.call(function, caller=caller, body=body)
    assert answer.status == 422
    assert answer.fields == errors


def test_a_batch_may_have_3_mebibytes(stack: Stack) -> None:
    jobs = [{"type": "note", "payload": {"a": "x" * 60_000}} for _ in range(50)]
    body = json.dumps({"jobs": jobs})
    assert stack.call("enqueue_jobs", caller=producer(), body=body.ljust(3 * 1024 * 1024)).status == 200
    answer = stack.call("enqueue_jobs", caller=producer(), body=body.ljust(3 * 1024 * 1024 + 1))
    assert (answer.status, answer.problem) == (413, "body-too-large")


def test_many_mistakes_make_no_answer_that_the_gateway_refuses(stack: Stack) -> None:
    item = {"type": "note", **{str(number): 0 for number in range(2_000)}}
    answer = stack.call("enqueue_jobs", caller=producer(), body={"jobs": [item] * 100})
    assert answer.status == 200
    assert len(answer.text) < 2_000_000


def test_claim_several(stack: Stack) -> None:
    made = [stack.enqueue(payload={"n": n}) for n in range(3)]
    answer = stack.call("claim_jobs", caller=worker(), body={"max_jobs": 25, "lease_seconds": 30})
    assert answer.status == 200
    jobs = answer.json["jobs"]
    assert {job["id"] for job in jobs} == set(made)
    assert len({job["lease_token"] for job in jobs}) == 3
    assert all("payload" in job and job["status"] == "running" for job in jobs)
    again = stack.call("claim_jobs", caller=worker(), body={"max_jobs": 1})
    assert (again.status, again.json) == (200, {"jobs": []})


@pytest.mark.parametrize("character", ["x", "é", "😀", '"', "\\", "\u0001"])
def test_the_largest_claim_stays_below_5_megabytes(stack: Stack, character: str) -> None:
    size = len(json.dumps(character, ensure_ascii=False).encode()) - 2
    payload = {"a": character * ((65_536 - 8) // size)}
    body = json.dumps({"type": "note", "payload": payload}, ensure_ascii=False)
    for _ in range(25):
        assert stack.call("enqueue_job", caller=producer(), body=body).status == 201
    answer = stack.call("claim_jobs", caller=worker(), body={"max_jobs": 25})
    assert len(answer.json["jobs"]) == 25
    assert len(answer.text.encode()) < 5_000_000


def test_complete_several(stack: Stack) -> None:
    for _ in range(3):
        stack.enqueue()
    first, second, third = stack.call("claim_jobs", caller=worker(), body={"max_jobs": 3}).json["jobs"]
    jobs: list[Any] = [
        {"id": first["id"], "lease_token": first["lease_token"], "result": {"ok": True}},
        {"id": second["id"], "lease_token": "another"},
        {"id": "job_nope", "lease_token": "t"},
        {"id": third["id"]},
        {"id": third["id"], "lease_token": third["lease_token"], "result": "x" * 65_535},
        "third",
    ]
    done = results(stack, "complete_jobs", worker(), jobs)
    assert [one["status"] for one in done] == [200, 409, 409, 422, 422, 422]
    assert done[0]["job"]["status"] == "completed"
    assert done[0]["job"].keys() & HIDDEN == set()
    assert problem_of(done[1]) == problem_of(done[2]) == "job-not-held"
    assert stack.read(first["id"]).result == {"ok": True}
    assert stack.read(second["id"]).status is JobStatus.RUNNING
    assert stack.read(third["id"]).status is JobStatus.RUNNING


def test_no_model_is_built_by_several_threads_at_once(stack: Stack) -> None:
    class FirstUsedHere(EnqueueJob):
        pass

    class Items(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            built.append(FirstUsedHere.__pydantic_complete__)
            return super().__iter__()

    def enqueue(item: EnqueueJob) -> tuple[HTTPStatus, Job]:
        return HTTPStatus.CREATED, stack.queue.enqueue(producer(), item.new_job()).job

    built: list[bool] = []
    app = import_module("functions.enqueue_jobs.app").app
    answer_each(app, FirstUsedHere, Items([{"type": "note"}] * 2), enqueue)
    assert built == [True]
    assert len(stack.items()) == 2


def test_a_repeated_batch_of_completions_is_answered_again(stack: Stack) -> None:
    stack.enqueue()
    job = stack.claim()
    one = {"id": job["id"], "lease_token": job["lease_token"], "result": 1}
    for result, status in ((1, 200), (1, 200), (2, 409)):
        (done,) = results(stack, "complete_jobs", worker(), [{**one, "result": result}])
        assert done["status"] == status


def test_what_breaks_one_item_breaks_no_other(stack: Stack) -> None:
    with captured_log() as log, broken(stack.client, RuntimeError("CANARY")):
        made = results(stack, "enqueue_jobs", producer(), [{"type": "note"}, {"type": "nope"}])
    assert [one["status"] for one in made] == [500, 422]
    assert made[0]["problem"].keys() == {"type", "title", "status", "request_id"}
    assert "CANARY" not in log() + json.dumps(made)


@pytest.mark.parametrize(
    ("function", "callers"),
    [
        ("enqueue_jobs", [worker()]),
        ("claim_jobs", [producer(), admin()]),
        ("complete_jobs", [producer(), admin()]),
    ],
)
def test_who_may_not(stack: Stack, function: str, callers: list[Any]) -> None:
    for caller in callers:
        answer = stack.call(function, caller=caller, body={"jobs": [{"type": "note"}]})
        assert (answer.status, answer.problem) == (403, "role-not-allowed")
