"""Who reaches whose job by which route, and what they learn of one that they do not reach: nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from jobqueue.principal import Principal, Role
from tests.support.callers import admin, producer, worker
from tests.support.faults import hooked
from tests.support.http import Answer, Stack

WHOSE = ("own", "granted", "not granted", "unknown", "malformed")
"""The caller's own job (a worker's is the one that it holds), another's in a queue that is granted, one in a
queue that is not, one that does not exist, and what is no id at all."""

UNKNOWN, MALFORMED = "job_01M8N4C1RBB1Q714Z4VNBP87AS", "job_nope"
CALLERS = {
    Role.PRODUCER: producer("shop", "default"),
    Role.WORKER: worker("mailer", "default"),
    Role.ADMIN: admin("ops", "default"),
}
FAR_PRODUCER, FAR_WORKER = producer("bank", "reports"), worker("printer", "reports")

HOLDING = ("complete_job", "complete_jobs", "fail_job", "heartbeat_job", "release_job")
NO_ROLE, NOT_HELD = (403,) * 5, (200, 409, 409, 409, 409)
EXPECTED: dict[tuple[Role, str], tuple[int, ...]] = {
    (Role.PRODUCER, "get_job"): (200, 200, 404, 404, 404),
    (Role.PRODUCER, "cancel_job"): (200, 404, 404, 404, 404),
    (Role.PRODUCER, "retry_job"): NO_ROLE,
    **{(Role.PRODUCER, function): NO_ROLE for function in HOLDING},
    (Role.WORKER, "get_job"): (200, 200, 404, 404, 404),
    (Role.WORKER, "cancel_job"): NO_ROLE,
    (Role.WORKER, "retry_job"): NO_ROLE,
    **{(Role.WORKER, function): NOT_HELD for function in HOLDING},
    (Role.ADMIN, "get_job"): (200, 200, 404, 404, 404),
    (Role.ADMIN, "cancel_job"): (200, 200, 404, 404, 404),
    (Role.ADMIN, "retry_job"): (200, 200, 404, 404, 404),
    **{(Role.ADMIN, function): NO_ROLE for function in HOLDING},
}
"""The status for each of `WHOSE`, in its order."""

PRIVATE = {"payload", "result", "idempotency_key", "error", "errors", "lease_token"}
SEEN: dict[tuple[Role, str], set[str]] = {
    (Role.PRODUCER, "own"): {"payload", "result", "idempotency_key"},
    (Role.PRODUCER, "granted"): set(),
    (Role.WORKER, "own"): {"payload", "result"},
    (Role.WORKER, "granted"): set(),
    (Role.ADMIN, "own"): PRIVATE - {"lease_token"},
    (Role.ADMIN, "granted"): PRIVATE - {"lease_token"},
}
"""What is private of a running job and still seen by GET. No other route shows more of any job."""

CELLS = [
    (role, function, whose, status)
    for (role, function), statuses in EXPECTED.items()
    for whose, status in zip(WHOSE, statuses, strict=True)
]


@dataclass(frozen=True)
class Target:
    """A job that somebody is after, and its lease's token."""

    id: str
    lease_token: str


def target(stack: Stack, role: Role, function: str, whose: str) -> Target:
    """Put the job there, in the state that the route is about, with something private in every field."""
    if whose in ("unknown", "malformed"):
        return Target(UNKNOWN if whose == "unknown" else MALFORMED, "token-of-nobody")
    is_far = whose == "not granted"
    caller = CALLERS[role]
    owner = caller if whose == "own" and role is not Role.WORKER else producer("other", "default")
    owner = FAR_PRODUCER if is_far else owner
    holder = caller if whose == "own" and role is Role.WORKER else worker("second", "default")
    holder = FAR_WORKER if is_far else holder
    job_id = stack.enqueue(
        owner,
        type="report" if is_far else "note",
        payload={"secret": "CANARY-payload"},
        idempotency_key=f"CANARY-key of {whose}",
    )
    first = stack.claim(holder)["lease_token"]
    body = {"lease_token": first, "error": "CANARY-error", "retry_in_seconds": 0}
    assert stack.call("fail_job", job_id, caller=holder, body=body).status == 200
    if function in ("cancel_job", "retry_job"):
        if function == "retry_job":
            assert stack.call("cancel_job", job_id, caller=admin()).status == 200
        return Target(job_id, first)
    token = stack.claim(holder)["lease_token"]
    progress = {"lease_token": token, "progress": "half"}
    assert stack.call("heartbeat_job", job_id, caller=holder, body=progress).status == 200
    return Target(job_id, token)


def attempt(stack: Stack, caller: Principal, function: str, at: Target) -> Answer:
    """Call the route about the job. The caller has even got hold of the lease's token."""
    held = {"lease_token": at.lease_token}
    if function == "complete_jobs":
        answer = stack.call(function, caller=caller, body={"jobs": [{"id": at.id, **held}]})
        if answer.status != 200:
            return answer
        (result,) = answer.json["results"]
        told = result.get("job") or result["problem"]
        return Answer(result["status"], answer.headers, json.dumps(told))
    return stack.call(function, at.id, caller=caller, body=held if function in HOLDING else None)


def unnamed(answer: Answer, at: Target) -> tuple[int, Mapping[str, str], str]:
    """Return all that an answer tells, but for the path that it was asked at."""
    return answer.status, answer.headers, answer.text.replace(at.id, "ID")


def test_every_route_about_a_job_is_in_the_table() -> None:
    assert {function for _, function in EXPECTED} == {"get_job", "cancel_job", "retry_job", *HOLDING}
    assert len(EXPECTED) == len(Role) * 8


@pytest.mark.parametrize(("role", "function", "whose", "status"), CELLS)
def test_who_reaches_whose_job(stack: Stack, role: Role, function: str, whose: str, status: int) -> None:
    at = target(stack, role, function, whose)
    before = stack.items()
    answer = attempt(stack, CALLERS[role], function, at)
    assert answer.status == status, answer.text
    seen = SEEN.get((role, whose), set())
    shown = PRIVATE & answer.json.keys()
    assert shown == seen if function == "get_job" else shown <= seen
    allowed = "".join(seen).replace("errors", "error").replace("idempotency_key", "key")
    assert not [
        name
        for name in ("payload", "key", "error")
        if f"CANARY-{name}" in answer.text and name not in allowed
    ]
    assert at.lease_token not in answer.text
    if status != 200:
        assert stack.items() == before
        assert "canary" not in answer.text.lower()


@pytest.mark.parametrize(("role", "function"), EXPECTED)
def test_what_is_not_there_and_what_is_not_granted_look_the_same(
    stack: Stack, role: Role, function: str
) -> None:
    answers = []
    for whose, status in zip(WHOSE, EXPECTED[role, function], strict=True):
        if status >= 400:
            at = target(stack, role, function, whose)
            answers.append(unnamed(attempt(stack, CALLERS[role], function, at), at))
    assert len(answers) >= 3
    assert answers == [answers[0]] * len(answers)


@contextmanager
def calls(stack: Stack) -> Iterator[list[str]]:
    """Note what DynamoDB is asked, call by call: what takes time."""
    made: list[str] = []

    def note(model: Any, **_: Any) -> None:
        made.append(model.name)

    with hooked(stack.client, "before-call.dynamodb", note):
        yield made


@pytest.mark.parametrize(
    ("role", "function"), [key for key, statuses in EXPECTED.items() if statuses[0] != 403]
)
def test_and_take_the_same_work_so_that_no_clock_tells_them_apart(
    stack: Stack, role: Role, function: str
) -> None:
    made = {}
    for whose in ("not granted", "unknown"):
        at = target(stack, role, function, whose)
        with calls(stack) as made[whose]:
            attempt(stack, CALLERS[role], function, at)
    assert made["not granted"] == made["unknown"]
    assert made["unknown"]


@pytest.mark.parametrize("function", [one for one in HOLDING if one != "complete_jobs"])
def test_without_a_token_nobody_holds_what_another_holds(stack: Stack, function: str) -> None:
    answers = []
    for whose in ("granted", "not granted", "unknown", "malformed"):
        at = target(stack, Role.WORKER, function, whose)
        before = stack.items()
        answer = stack.call(function, at.id, caller=CALLERS[Role.WORKER], body={})
        assert stack.items() == before
        answers.append(unnamed(answer, at))
    assert answers == [answers[0]] * 4
    assert answers[0][0] == 409
