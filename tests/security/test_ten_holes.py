"""Ten holes that a job queue like this once had. Each is attacked here, through authorizer and functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jobqueue.job import JobStatus
from jobqueue.principal import Role
from tests.security.attackers import ATTACKS, ROUTES, Keys, behind_the_authorizer
from tests.security.reach import ALLOWED
from tests.support.botofaults import Faults
from tests.support.events import http_event
from tests.support.http import EMAIL, Stack
from tests.support.log import captured_log


@pytest.fixture
def keys(stack: Stack) -> Keys:
    return Keys(stack)


def test_v_01_every_route_is_attacked() -> None:
    assert ROUTES.keys() == behind_the_authorizer()


@pytest.mark.parametrize("function", ROUTES)
def test_v_01_nobody_without_a_credential(stack: Stack, function: str) -> None:
    request = ROUTES[function].parts
    assert stack.call(function, **request).status == 401
    for header in (
        "Bearer ",
        "Bearer x",
        "Basic b3BzOm9wcw==",
        "Bearer jq_" + "A" * 43,
        "jq_" + "A" * 43,
        "null",
    ):
        answer = stack.call(function, **request, headers={"authorization": header})
        assert answer.status == 403
    # a function that is reached past the gateway answers nobody either
    assert stack.send(function, http_event(function, **request)).status == 403
    assert stack.items() == []


@pytest.mark.parametrize("function", ROUTES)
def test_v_01_no_role_does_anothers_work(stack: Stack, keys: Keys, function: str) -> None:
    for role in Role:
        answer = stack.call(function, **ROUTES[function].parts, caller=keys.key(f"some-{role}", role))
        if role in ALLOWED[function]:
            assert answer.problem != "role-not-allowed"
        else:
            assert (answer.status, answer.problem) == (403, "role-not-allowed")
    assert len(stack.items()) <= 2


@pytest.mark.parametrize(
    "name",
    ["rm -rf", "os.system", "EMAIL", "email ", "note\u0000", "__class__", "../email", "", "*", "n\u0456te"],
)
def test_v_02_only_declared_types(stack: Stack, keys: Keys, name: str) -> None:
    answer = stack.call("enqueue_job", caller=keys.producer(), body={"type": name})
    assert answer.status == 422
    assert answer.fields == {"type": "unknown_type"}
    assert stack.items() == []


def test_v_02_only_payloads_that_fit_their_type(stack: Stack, keys: Keys) -> None:
    payload = {**EMAIL, "to": "a@example.com\r\nBcc: all@example.com", "bcc": "all@example.com"}
    answer = stack.call("enqueue_job", caller=keys.producer(), body={"type": "email", "payload": payload})
    assert answer.fields == {"payload.to": "malformed", "payload.bcc": "unknown_field"}
    assert stack.items() == []


@pytest.mark.parametrize("priority", ["high", "HIGH", "critical", "Critical"])
def test_v_03_nobody_jumps_the_queue(stack: Stack, keys: Keys, priority: str) -> None:
    body = {"type": "note", "priority": priority}
    answer = stack.call("enqueue_job", caller=keys.producer(), body=body)
    assert (answer.status, answer.problem) == (403, "priority-not-allowed")
    batch = stack.call("enqueue_jobs", caller=keys.producer(), body={"jobs": [body]})
    assert [one["status"] for one in batch.json["results"]] == [403]
    low = keys.producer("humble", max_priority="low")
    assert stack.call("enqueue_job", caller=low, body={"type": "note", "priority": "medium"}).status == 403
    assert stack.items() == []


def test_v_03_a_key_that_was_used_gives_no_priority(stack: Stack, keys: Keys) -> None:
    body = {"type": "note", "idempotency_key": "k"}
    keys.enqueue(keys.producer(), idempotency_key="k")
    answer = stack.call("enqueue_job", caller=keys.producer(), body={**body, "priority": "critical"})
    assert answer.status == 403


@pytest.mark.parametrize(
    ("function", "more"),
    [
        ("claim_job", {}),
        ("claim_jobs", {"max_jobs": 1}),
        ("complete_job", {}),
        ("fail_job", {}),
        ("heartbeat_job", {}),
    ],
)
def test_v_04_nobody_claims_as_another(stack: Stack, keys: Keys, function: str, more: dict[str, Any]) -> None:
    job_id = keys.enqueue(keys.producer())
    path_id = None if "claim" in function else job_id
    body = {**more, "worker_id": "key:printer"}
    answer = stack.call(function, path_id, caller=keys.worker("mailer"), body=body)
    assert answer.fields == {"worker_id": "unknown_field"}
    headers = {"x-worker-id": "key:printer", "worker_id": "key:printer"}
    claimed = stack.call("claim_job", caller=keys.worker("mailer"), headers=headers)
    assert claimed.json["worker_id"] == stack.read(job_id).worker_id == "key:mailer"


def test_v_04_nobody_enqueues_as_another(stack: Stack, keys: Keys) -> None:
    answer = stack.call(
        "enqueue_job", caller=keys.producer(), body={"type": "note", "created_by": "key:other"}
    )
    assert answer.fields == {"created_by": "unknown_field"}


@pytest.mark.parametrize("function", ["complete_job", "fail_job", "heartbeat_job", "release_job"])
def test_v_05_nobody_finishes_what_another_holds(stack: Stack, keys: Keys, function: str) -> None:
    job_id = keys.enqueue(keys.producer())
    token = keys.claim(keys.worker("mailer"))
    before = stack.items()
    for caller, body in (
        (keys.worker("thief"), {}),
        (keys.worker("thief"), {"lease_token": token}),
        (keys.worker("mailer"), {"lease_token": token[:-1]}),
        (keys.worker("mailer"), {"lease_token": token.swapcase()}),
    ):
        answer = stack.call(function, job_id, caller=caller, body=body)
        assert (answer.status, answer.problem) == (409, "job-not-held")
    item = {"id": job_id, "lease_token": token}
    batch = stack.call("complete_jobs", caller=keys.worker("thief"), body={"jobs": [item]})
    assert [one["status"] for one in batch.json["results"]] == [409]
    assert stack.items() == before


def test_v_05_the_token_is_shown_to_the_claimer_alone(stack: Stack, keys: Keys) -> None:
    job_id = keys.enqueue(keys.producer())
    token = keys.claim(keys.worker("mailer"))
    for caller in (keys.producer(), keys.worker("mailer"), keys.worker("thief"), keys.admin()):
        for answer in (stack.call("get_job", job_id, caller=caller), stack.call("list_jobs", caller=caller)):
            assert answer.status == 200
            assert token not in answer.text


def test_v_06_no_job_is_given_to_two(stack: Stack, keys: Keys) -> None:
    job_id = keys.enqueue(keys.producer())
    between: list[Any] = []

    def claim_first(operation: str, _: object) -> None:
        if operation == "UpdateItem" and not between:
            between.append(None)
            between[0] = stack.call("claim_job", caller=keys.worker("quick"))

    keys.worker("quick")
    with Faults.of(stack.client).watched(claim_first):
        late = stack.call("claim_job", caller=keys.worker("late"))
    assert (between[0].status, late.status) == (200, 204)
    assert stack.read(job_id).worker_id == "key:quick"


def test_v_07_nothing_large_is_stored(stack: Stack, keys: Keys) -> None:
    def post(**body: Any) -> int:
        return stack.call("enqueue_job", caller=keys.producer(), body={"type": "note", **body}).status

    assert post(payload={"a": "x" * 65_529}) == 422
    assert post(payload={"a": "x" * 200_000}) == 413
    assert post(payload=json.loads('{"a":' * 40 + "1" + "}" * 40)) == 422
    assert post(idempotency_key="k" * 256) == 422
    assert post(type="t" * 60_000) == 422
    assert stack.items() == []
    job_id = keys.enqueue(keys.producer())
    stack.call("claim_job", caller=keys.worker())
    for function, body in (
        ("complete_job", {"result": "x" * 65_535}),
        ("heartbeat_job", {"progress": "x" * 1_023}),
        ("complete_job", {"lease_token": "t" * 60_000}),
    ):
        assert stack.call(function, job_id, caller=keys.worker(), body=body).status == 422
    assert stack.call("fail_job", job_id, caller=keys.worker(), body={"error": "e" * 100_000}).status == 200
    (item,) = stack.items()
    assert len(json.dumps(item)) < 5_000


@pytest.mark.parametrize("attack", ATTACKS)
def test_v_08_what_is_sent_is_only_ever_bound(stack: Stack, keys: Keys, attack: str) -> None:
    expressions: list[str] = []

    def look(_: str, read: Callable[[], dict[str, Any]]) -> None:
        expressions.extend(
            json.dumps(value)
            for name, value in read().items()
            if name.endswith("Expression") or name == "ExpressionAttributeNames"
        )

    body = {"type": "note", "payload": {attack: attack}, "idempotency_key": attack.replace("\u0000", "")}
    with Faults.of(stack.client).watched(look):
        stack.call("enqueue_job", caller=keys.producer(), body=body)
        job = stack.call("claim_job", caller=keys.worker()).json
        held = {"lease_token": job["lease_token"]}
        stack.call(
            "heartbeat_job", job["id"], caller=keys.worker(), body={**held, "progress": {attack: attack}}
        )
        for function in ("complete_job", "fail_job", "heartbeat_job", "release_job"):
            stack.call(function, job["id"], caller=keys.worker(), body={"lease_token": attack})
            stack.call(function, attack, caller=keys.worker(), body=held)
        stack.call("fail_job", job["id"], caller=keys.worker(), body={**held, "error": attack})
        stack.call("claim_job", caller=keys.worker(), body={"queues": [attack]})
        for parameter in ("status", "queue", "type", "limit", "cursor"):
            assert stack.call("list_jobs", caller=keys.producer(), query={parameter: attack}).status in {
                400,
                422,
            }
        for function in ("get_job", "cancel_job", "retry_job"):
            assert stack.call(function, attack, caller=keys.admin()).status == 404
    assert expressions
    own = {"#status", ":now", ":pending", "~"}  # these are in our own expressions
    assert not [text for text in expressions if attack in text and attack not in own]
    stored = stack.read(job["id"])
    assert stored.payload == {attack: attack}
    assert stored.status is JobStatus.PENDING


def test_v_09_a_key_belongs_to_its_caller(stack: Stack, keys: Keys) -> None:
    secret = {"card": "4111111111111111"}
    mine = keys.enqueue(keys.producer("shop"), idempotency_key="order-1", payload=secret)
    theirs = keys.enqueue(keys.producer("spy"), idempotency_key="order-1", payload={})
    assert mine != theirs
    again = stack.call(
        "enqueue_job", caller=keys.producer("spy"), body={"type": "note", "idempotency_key": "order-1"}
    )
    assert again.json["id"] == theirs
    seen = stack.call("get_job", mine, caller=keys.producer("spy")).json
    assert seen.keys() & {"payload", "result", "idempotency_key", "error", "errors", "lease_token"} == set()


def test_v_09_a_mismatch_shows_nothing(stack: Stack, keys: Keys) -> None:
    job_id = keys.enqueue(keys.producer(), idempotency_key="order-1", payload={"card": "4111111111111111"})
    body = {"type": "note", "idempotency_key": "order-1", "payload": {"card": "?"}}
    answer = stack.call("enqueue_job", caller=keys.producer(), body=body)
    assert (answer.status, answer.problem) == (422, "idempotency-key-reused")
    assert answer.json.keys() == {"type", "title", "status", "detail", "instance", "request_id"}
    assert "4111" not in answer.text
    assert job_id not in answer.text


def test_v_09_ids_of_keyed_jobs_cannot_be_made_by_others(stack: Stack, keys: Keys) -> None:
    pairs = [("a", "b#c"), ("a.b", "c"), ("a", "b"), ("ab", ""), ("a", "#b")]
    ids = [keys.enqueue(keys.producer(name), idempotency_key=key or "x") for name, key in pairs]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "error",
    [
        "could not connect: postgres://user:CANARY4711@db.example.com/jobs",
        "Authorization: Bearer CANARY4711CANARY4711CANARY4711",
        "password=CANARY4711 refused",
        '{"api_key": "CANARY4711CANARY4711"}',
    ],
)
def test_v_10_errors_are_redacted_and_for_admins(stack: Stack, keys: Keys, error: str) -> None:
    job_id = keys.enqueue(keys.producer(), max_retries=0)
    with captured_log() as log:
        stack.call("claim_job", caller=keys.worker())
        failed = stack.call("fail_job", job_id, caller=keys.worker(), body={"error": error})
        texts = [failed.text]
        for caller in (keys.producer(), keys.producer("other"), keys.worker(), keys.worker("other")):
            texts += [
                stack.call("get_job", job_id, caller=caller).text,
                stack.call("list_jobs", caller=caller).text,
            ]
        told = stack.call("get_job", job_id, caller=keys.admin()).json
    for text in (*texts, json.dumps(told), json.dumps(stack.items()), log()):
        assert "CANARY4711" not in text
    for text in texts:
        assert "error" not in text
    assert told["error"]
    assert [failure["error"] for failure in told["errors"]] == [told["error"]]
