"""Principals that are granted different queues learn nothing of each other's, by whatever they can ask."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from jobqueue.job import JobPriority, JobStatus
from jobqueue.principal import Principal
from tests.support.callers import admin, producer, worker
from tests.support.faults import counted
from tests.support.http import Answer, Stack

FAR_PRODUCER, FAR_WORKER, FAR_ADMIN = (
    producer("bank", "reports"),
    worker("printer", "reports"),
    admin("auditor", "reports"),
)
NEAR = [
    producer("shop", "default", max_priority=JobPriority.CRITICAL),
    worker("mailer", "default"),
    admin("ops", "default"),
]
BY_ROLE = pytest.mark.parametrize("caller", NEAR, ids=lambda caller: caller.role.value)


def far_jobs(stack: Stack) -> set[str]:
    """Put a job in every status into the queue that `NEAR` are not granted."""
    jobs = {status: stack.enqueue(FAR_PRODUCER, type="report") for status in JobStatus}
    finished = {JobStatus.COMPLETED: "complete_job", JobStatus.FAILED: "fail_job"}
    held = {job["id"]: job["lease_token"] for job in (stack.claim(FAR_WORKER) for _ in jobs)}
    for status, function in finished.items():
        body: dict[str, Any] = {"lease_token": held[jobs[status]]}
        body |= {"discard": True} if function == "fail_job" else {}
        assert stack.call(function, jobs[status], caller=FAR_WORKER, body=body).status == 200
    for status in (JobStatus.PENDING, JobStatus.CANCELLED):
        body = {"lease_token": held[jobs[status]]}
        assert stack.call("release_job", jobs[status], caller=FAR_WORKER, body=body).status == 200
    assert stack.call("cancel_job", jobs[JobStatus.CANCELLED], caller=FAR_ADMIN).status == 200
    assert {stack.read(job_id).status for job_id in jobs.values()} == set(JobStatus)
    return set(jobs.values())


def listed(stack: Stack, caller: Principal, **query: str) -> list[Any]:
    """Follow a list to its end, and return its jobs and its cursors."""
    found: list[Any] = []
    while True:
        answer = stack.call("list_jobs", caller=caller, query=query)
        assert answer.status == 200, answer.text
        found += answer.json["jobs"]
        if (cursor := answer.json["next_cursor"]) is None:
            return found
        assert "reports" not in _decoded(cursor)
        found.append(cursor)
        query["cursor"] = cursor


def _decoded(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()


@BY_ROLE
def test_no_list_shows_them(stack: Stack, caller: Principal) -> None:
    near = {stack.enqueue(producer("other", "default")) for _ in range(3)}
    far = far_jobs(stack)
    filters: list[dict[str, str]] = [
        {},
        {"type": "report"},
        {"type": "note"},
        *({"status": status.value} for status in JobStatus),
        *({"status": status.value, "type": "report"} for status in JobStatus),
    ]
    for query in filters:
        told = json.dumps(listed(stack, caller, limit="1", **query))
        assert not [job_id for job_id in far if job_id in told]
        assert "reports" not in told
        assert "bank" not in told
    assert {job["id"] for job in listed(stack, caller) if isinstance(job, dict)} == near


@BY_ROLE
def test_a_list_that_has_them_beside_costs_and_says_the_same_as_one_that_has_not(
    stack: Stack, caller: Principal
) -> None:
    stack.enqueue(producer("other", "default"))
    with counted(stack.client) as without:
        before = stack.call("list_jobs", caller=caller)
    far_jobs(stack)
    with counted(stack.client) as beside:
        after = stack.call("list_jobs", caller=caller)
    assert (after.text, beside) == (before.text, without)


@BY_ROLE
def test_a_queue_that_is_not_granted_answers_the_same_whatever_is_in_it(
    stack: Stack, caller: Principal
) -> None:
    def ask() -> list[Answer]:
        attempts: list[tuple[str, dict[str, Any]]] = [
            ("list_jobs", {"query": {"queue": "reports"}}),
            ("list_jobs", {"query": {"queue": "reports", "status": "pending"}}),
            ("claim_job", {"body": {"queues": ["reports"]}}),
            ("claim_job", {"body": {"queues": ["default", "reports"]}}),
            ("claim_jobs", {"body": {"queues": ["reports"], "max_jobs": 5}}),
            ("enqueue_job", {"body": {"type": "report"}}),
            ("enqueue_job", {"body": {"type": "note", "queue": "reports"}}),
            ("enqueue_job", {"body": {"type": "note", "queue": "reports", "idempotency_key": "k"}}),
            ("enqueue_jobs", {"body": {"jobs": [{"type": "report"}]}}),
            *(
                (function, {"queue": "reports", "body": body})
                for function, body in (
                    ("pause_queue", None),
                    ("resume_queue", None),
                    ("retry_jobs", {"status": "failed"}),
                )
            ),
            ("list_queues", {}),
        ]
        return [stack.call(function, caller=caller, **request) for function, request in attempts]

    empty = ask()
    far_jobs(stack)
    before = stack.items()
    full = ask()
    assert full == empty
    assert stack.items() == before
    assert {answer.status for answer in full[:-1]} <= {200, 403, 404}
    assert all(answer.status != 200 or '"results"' in answer.text for answer in full[:-1])


def test_a_queue_that_is_not_granted_is_to_operators_as_one_that_is_not_there(stack: Stack) -> None:
    for function, body in (
        ("pause_queue", None),
        ("resume_queue", None),
        ("retry_jobs", {"status": "failed"}),
    ):
        told = []
        for queue in ("reports", "nowhere"):
            with counted(stack.client) as calls:
                answer = stack.call(function, queue=queue, caller=admin("ops", "default"), body=body)
            told.append((answer.status, answer.headers, answer.text.replace(queue, "QUEUE"), calls))
        assert told[0] == told[1]
        assert told[0][0] == 404


@BY_ROLE
def test_the_overview_of_queues_is_of_those_that_are_granted(stack: Stack, caller: Principal) -> None:
    far_jobs(stack)
    answer = stack.call("list_queues", caller=caller)
    assert [queue["name"] for queue in answer.json["queues"]] == ["default"]


def test_a_worker_is_told_of_no_job_where_only_others_have_some(stack: Stack) -> None:
    far_jobs(stack)
    before = stack.items()
    assert stack.call("claim_job", caller=worker("mailer", "default")).status == 204
    batch = stack.call("claim_jobs", caller=worker("mailer", "default"), body={"max_jobs": 25})
    assert batch.json == {"jobs": []}
    assert stack.items() == before


def forged(place: list[str], caller: Principal, status: str | None = None) -> str:
    """Make a cursor as the API makes it: its digest is no secret."""
    made_for = [caller.id, sorted(caller.queues), "GET /jobs", status, None, None]
    digest = hashlib.sha256(json.dumps([place, made_for], separators=(",", ":")).encode()).hexdigest()[:32]
    text = json.dumps([*place, digest], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@BY_ROLE
def test_no_cursor_leads_into_another_queue(stack: Stack, caller: Principal) -> None:
    far = far_jobs(stack)
    stack.enqueue(producer("other", "default"))
    theirs = stack.call("list_jobs", caller=FAR_PRODUCER, query={"limit": "1"}).json["next_cursor"]
    lane, order, job_id, _ = json.loads(_decoded(theirs))
    own = stack.call("list_jobs", caller=caller, query={"limit": "1"}).json["next_cursor"]
    own_lane, own_order, own_id, _ = json.loads(_decoded(own))
    # the forger knows the form: a good one, made the same way, is taken
    good = forged([own_lane, own_order, own_id], caller)
    assert stack.call("list_jobs", caller=caller, query={"cursor": good}).status == 200
    refused = [
        stack.call("list_jobs", caller=caller, query={"cursor": cursor})
        for cursor in (
            theirs,
            "garbage",
            forged([lane, order, job_id], caller),
            forged([lane, "", ""], caller),
            forged(["reports/running/0", "", ""], caller),
            forged(["reports/pending/0/0", "", ""], caller),
            forged(["reports/failed/0", "~", min(far)], caller),
        )
    ]
    assert {(answer.status, answer.problem) for answer in refused} == {(400, "invalid-cursor")}
    assert len({answer.text for answer in refused}) == 1
    # from a place of theirs in a lane of one's own, only one's own jobs follow
    mixed = stack.call(
        "list_jobs", caller=caller, query={"cursor": forged([own_lane, order, job_id], caller)}
    )
    assert mixed.status == 200
    assert not [one for one in far if one in mixed.text]


def test_keys_of_others_are_nobodys_business(stack: Stack) -> None:
    first = stack.enqueue(producer("shop", "default"), idempotency_key="order-1", payload={"a": 1})
    body = {"type": "note", "idempotency_key": "order-1", "payload": {"a": 2}}
    for name in ("shop2", "sho", "shop.", "other"):
        answer = stack.call("enqueue_job", caller=producer(name, "default"), body=body)
        assert answer.status == 201
        assert answer.json["id"] != first
        assert "order-1" not in stack.call("get_job", first, caller=producer(name, "default")).text
