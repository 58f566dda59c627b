"""Every function checks who is calling by itself, whatever the gateway remembered: fault 18."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from jobqueue.authorizer import context as authorizer_context
from jobqueue.errors import Unauthenticated
from jobqueue.keys import create_key
from jobqueue.principal import Role
from tests.support.callers import admin, producer, worker
from tests.support.events import authorized, http_event
from tests.support.functions import declared
from tests.support.http import Stack, handler

ALLOWED = {
    "enqueue_job": {"producer", "admin"},
    "enqueue_jobs": {"producer", "admin"},
    "list_jobs": {"producer", "worker", "admin"},
    "get_job": {"producer", "worker", "admin"},
    "claim_job": {"worker"},
    "claim_jobs": {"worker"},
    "complete_job": {"worker"},
    "complete_jobs": {"worker"},
    "fail_job": {"worker"},
    "heartbeat_job": {"worker"},
    "release_job": {"worker"},
    "cancel_job": {"producer", "admin"},
    "retry_job": {"admin"},
}
GOOD = authorizer_context(producer("shop", "default"))


def test_every_route_of_jobs_is_here() -> None:
    routed = {
        name
        for name, function in declared().items()
        for event in function.get("Events", {}).values()
        if event["Type"] == "HttpApi" and event["Properties"]["Path"].startswith("/jobs")
    }
    assert routed == ALLOWED.keys()


@pytest.mark.parametrize("function", ALLOWED)
@pytest.mark.parametrize("caller", [producer(), worker(), admin()], ids=list(Role))
def test_roles(stack: Stack, function: str, caller: Any) -> None:
    answer = stack.call(function, "job_nope", caller=caller, body={})
    refused = (answer.status, answer.problem) == (403, "role-not-allowed")
    assert refused is (caller.role.value not in ALLOWED[function])
    assert stack.items() == []


ODD_CONTEXTS: list[Any] = [
    None,
    "x",
    [],
    {},
    *({name: value for name, value in GOOD.items() if name != missing} for missing in GOOD),
    *({**GOOD, name: None} for name in GOOD),
    *({**GOOD, name: ""} for name in GOOD),
    *({**GOOD, name: ["*"]} for name in GOOD),
    *({**GOOD, name: True} for name in GOOD),
    {**GOOD, "principal": "shop"},
    {**GOOD, "principal": "key:"},
    {**GOOD, "principal": "key:Shop"},
    {**GOOD, "principal": "key:shop\n"},
    {**GOOD, "principal": "key:a#b"},
    {**GOOD, "principal": "jwt:no-subject"},
    {**GOOD, "principal": "jwt:#"},
    {**GOOD, "principal": "internal:rescue_jobs"},
    {**GOOD, "principal": "key:" + "x" * 65},
    {**GOOD, "role": "Producer"},
    {**GOOD, "role": "root"},
    {**GOOD, "role": "producer,admin"},
    {**GOOD, "queues": "*,default"},
    {**GOOD, "queues": "default,"},
    {**GOOD, "queues": "default, emails"},
    {**GOOD, "queues": "Default"},
    {**GOOD, "queues": "**"},
    {**GOOD, "max_priority": "LOW"},
    {**GOOD, "max_priority": "30"},
    {**GOOD, "max_priority": "urgent"},
]


@pytest.mark.parametrize("context", ODD_CONTEXTS, ids=str)
def test_an_odd_context_is_refused(stack: Stack, context: Any) -> None:
    event = http_event("enqueue_job", body={"type": "note"})
    event["requestContext"]["authorizer"] = {"lambda": context}
    answer = stack.send("enqueue_job", event)
    assert (answer.status, answer.problem) == (403, "unauthenticated")
    assert stack.items() == []


@pytest.mark.parametrize("function", ALLOWED)
@pytest.mark.parametrize(
    "authorizer",
    [None, {}, {"jwt": {"claims": {}}}, {"iam": {}}, {"principal": "key:shop"}, "x", []],
    ids=str,
)
def test_without_the_authorizer_nobody_is_served(stack: Stack, function: str, authorizer: Any) -> None:
    event = http_event(function, "job_nope", body={})
    if authorizer is not None:
        event["requestContext"]["authorizer"] = authorizer
    answer = stack.send(function, event)
    assert (answer.status, answer.problem) == (403, "unauthenticated")


@pytest.mark.parametrize(
    "event", [{}, {"requestContext": None}, {"headers": None, "body": 7}, {"source": "aws.events"}]
)
@pytest.mark.parametrize("function", ["enqueue_job", "list_jobs"])
def test_an_event_of_something_else_is_refused(stack: Stack, function: str, event: dict[str, Any]) -> None:
    assert handler(function)(event, None)["statusCode"] == 403


def test_a_good_context_is_served(stack: Stack) -> None:
    event = authorized(http_event("enqueue_job", body={"type": "note"}), GOOD)
    assert stack.send("enqueue_job", event).status == 201


@pytest.mark.parametrize(
    "principal", ["jwt:https://issuer.example/#user-1", "jwt:https://a.example#auth0|x#y"]
)
def test_callers_with_a_jwt(stack: Stack, principal: str) -> None:
    event = authorized(http_event("enqueue_job", body={"type": "note"}), {**GOOD, "principal": principal})
    assert stack.send("enqueue_job", event).json["created_by"] == principal


def test_fault_18_a_remembered_answer_of_the_authorizer_gives_no_other_right(stack: Stack) -> None:
    key = create_key("shop", role="producer", queues=("default",))
    made = stack.call("enqueue_job", caller=key, body={"type": "note"})
    assert made.status == 201
    remembered = authorized(http_event("claim_job"), GOOD)
    answer = stack.send("claim_job", remembered)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")
    assert stack.call("claim_job", caller=key).status == 403


def test_nothing_is_left_of_the_caller_before(stack: Stack) -> None:
    app = import_module("functions.get_job.app").app
    stack.call("get_job", stack.enqueue(), caller=admin())
    assert app.caller == admin()
    stack.send("get_job", http_event("get_job", "job_nope"))
    with pytest.raises(Unauthenticated):
        _ = app.caller


def test_an_api_key_opens_the_door(stack: Stack) -> None:
    keys = {
        role: create_key(role, role=role, queues=("default",)) for role in ("producer", "worker", "admin")
    }
    made = stack.call("enqueue_job", caller=keys["producer"], body={"type": "note"})
    assert (made.status, made.json["created_by"]) == (201, "key:producer")
    claimed = stack.call("claim_job", caller=keys["worker"])
    assert (claimed.json["id"], claimed.json["worker_id"]) == (made.json["id"], "key:worker")
    assert stack.call("get_job", made.json["id"], caller=keys["admin"]).status == 200


def test_without_a_key_the_gateway_refuses(stack: Stack) -> None:
    assert stack.call("enqueue_job", body={"type": "note"}).status == 401
    assert stack.call("enqueue_job", caller="jq_" + "x" * 43, body={"type": "note"}).status == 403


@pytest.mark.parametrize("header", ["Authorization", "authorization", "AUTHORIZATION"])
def test_fault_17_the_header_in_any_case(stack: Stack, header: str) -> None:
    key = create_key("shop", role="producer", queues=("*",))
    answer = stack.call("enqueue_job", body={"type": "note"}, headers={header: f"Bearer {key}"})
    assert answer.status == 201


def test_fault_7_keys_of_different_callers_never_meet(stack: Stack) -> None:
    ids = {
        stack.enqueue(producer("a"), idempotency_key="K"),
        stack.enqueue(producer("b"), idempotency_key="K"),
    }
    for principal, key in (("jwt:https://i.example#a#b", "c"), ("jwt:https://i.example#a", "b#c")):
        body = {"type": "note", "idempotency_key": key}
        event = authorized(http_event("enqueue_job", body=body), {**GOOD, "principal": principal})
        ids.add(stack.send("enqueue_job", event).json["id"])
    assert len(ids) == 4
