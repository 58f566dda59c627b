"""Who reaches whose job by which route, and what they learn of one that they do not reach: nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest

from jobqueue.principal import Role
from tests.security.attackers import ROUTES, behind_the_authorizer
from tests.security.reach import (
    ABOUT_A_JOB,
    ALLOWED,
    CELLS,
    HOLDING,
    STATES,
    WHOSE,
    Cell,
    Target,
    attempt,
    caller,
    target,
)
from tests.support.botofaults import Faults
from tests.support.callers import admin
from tests.support.http import Answer, Stack

PRIVATE = {"payload", "result", "idempotency_key", "error", "errors", "lease_token"}
SEEN: dict[tuple[Role, str], set[str]] = {
    (Role.PRODUCER, "own"): {"payload", "result", "idempotency_key"},
    (Role.WORKER, "own"): {"payload", "result"},
    (Role.ADMIN, "own"): PRIVATE - {"lease_token"},
    (Role.ADMIN, "granted"): PRIVATE - {"lease_token"},
}
"""What is private of a job and still seen by GET; of a job that it held, a worker sees the result."""

MAY = [(role, function) for function in ROUTES for role in Role if role in ALLOWED[function]]
MAY_NOT = [(role, function) for function in ROUTES for role in Role if role not in ALLOWED[function]]


def test_every_route_behind_the_authorizer_is_in_the_table() -> None:
    assert ALLOWED.keys() == ROUTES.keys() == behind_the_authorizer()
    cells = [(cell.role, cell.function, cell.state, cell.whose) for cell in CELLS]
    assert len(cells) == len(set(cells))
    # whatever the state of the job makes a difference to is there in every state
    for role, function in MAY:
        states = {state for one, other, state, _ in cells if (one, other) == (role, function)}
        assert states in ({"running"}, set(STATES)), (role, function)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_who_reaches_whose_job(stack: Stack, cell: Cell) -> None:
    at = target(stack, cell.role, cell.state, cell.whose)
    before = stack.items()
    answer = attempt(stack, caller(cell.role), cell.function, at)
    assert answer.status == cell.status, answer.text
    subject = at.queue if cell.function == "list_queues" else at.id
    assert (subject in answer.text.replace(f"/{at.id}", "")) is cell.is_told
    if answer.status >= 400:
        assert stack.items() == before
        assert "canary" not in answer.text.lower()
    if cell.function == "retry_jobs" and answer.status == 200:
        assert answer.json["retried"] == (1 if cell.state == "failed" else 0)
    if cell.function == "get_job" and answer.status == 200:
        assert PRIVATE & answer.json.keys() == seen(cell)
    elif not cell.function.startswith(("claim", "enqueue")):  # those show what one is handed, or sent
        shown = [name for name in ("payload", "key", "error", "result") if f"CANARY-{name}" in answer.text]
        assert set(shown) <= {name.replace("idempotency_", "") for name in seen(cell)}
        assert at.lease_token not in answer.text


def seen(cell: Cell) -> set[str]:
    """Return what is private of the job and may be seen."""
    found = SEEN.get((cell.role, "own" if cell.whose == "no longer granted" else cell.whose), set())
    if cell.role is Role.WORKER:
        return found - {"running": set(), "pending": {"payload", "result"}}.get(cell.state, {"payload"})
    return found


@pytest.mark.parametrize(("role", "function"), MAY_NOT)
@pytest.mark.parametrize("whose", WHOSE)
def test_no_role_reaches_any_job_by_what_is_not_its_work(
    stack: Stack, role: Role, function: str, whose: str
) -> None:
    at = target(stack, role, "running", whose)
    before = stack.items()
    answer = attempt(stack, caller(role), function, at)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")
    assert stack.items() == before
    assert "canary" not in answer.text.lower()


def unnamed(answer: Answer, at: Target) -> tuple[int, Mapping[str, str], str]:
    """Return all that an answer tells, but for the path that it was asked at."""
    return answer.status, answer.headers, answer.text.replace(at.id, "ID")


@pytest.mark.parametrize(("role", "function"), [pair for pair in MAY if pair[1] in ABOUT_A_JOB])
def test_what_is_not_there_and_what_is_not_granted_look_the_same(
    stack: Stack, role: Role, function: str
) -> None:
    (absent,) = {cell.status for cell in CELLS if cell.is_of(role, function) and cell.whose == "absent"}
    own = ("own", "no longer granted") if function in HOLDING else ("own",)
    others = {
        (cell.whose, cell.state)
        for cell in CELLS
        if cell.is_of(role, function) and cell.whose not in own and cell.status == absent
    }
    assert {("not granted", state) for state in STATES} <= others
    answers = []
    for whose, state in (*sorted(others), ("malformed", "running")):
        at = target(stack, role, state, whose)
        if state != "running":
            # to who knows the token of its last lease, a job says that it has ended
            at = replace(at, lease_token="token-of-nobody")
        answers.append(unnamed(attempt(stack, caller(role), function, at), at))
        stack.call("cancel_job", at.id, caller=admin())  # or the next one's holder would be handed this one
    assert answers == [answers[0]] * len(answers)
    assert answers[0][0] == absent


@contextmanager
def calls(stack: Stack) -> Iterator[list[str]]:
    """Note what DynamoDB is asked, call by call: what takes time."""
    made: list[str] = []

    with Faults.of(stack.client).watched(lambda operation, _: made.append(operation)):
        yield made


@pytest.mark.parametrize(("role", "function"), [pair for pair in MAY if pair[1] in ABOUT_A_JOB])
def test_and_take_the_same_work_so_that_no_clock_tells_them_apart(
    stack: Stack, role: Role, function: str
) -> None:
    made = {}
    for whose in ("not granted", "absent"):
        at = target(stack, role, "running", whose)
        with calls(stack) as made[whose]:
            attempt(stack, caller(role), function, at)
    assert made["not granted"] == made["absent"]
    assert made["absent"]


@pytest.mark.parametrize("function", [one for one in HOLDING if one != "complete_jobs"])
def test_without_a_token_nobody_holds_what_another_holds(stack: Stack, function: str) -> None:
    answers = []
    for whose in ("granted", "not granted", "absent", "malformed"):
        at = target(stack, Role.WORKER, "running", whose)
        before = stack.items()
        answer = stack.call(function, at.id, caller=caller(Role.WORKER), body={})
        assert stack.items() == before
        answers.append(unnamed(answer, at))
    assert answers == [answers[0]] * 4
    assert answers[0][0] == 409
