"""The bodies of requests: faults 12 to 16."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from jobqueue.authorizer import context
from tests.support.callers import admin, producer, worker
from tests.support.events import authorized, http_event
from tests.support.http import Stack

NOTE = {"type": "note"}


def body_of(payload_text: str) -> str:
    return f'{{"type":"note","payload":{payload_text}}}'


@pytest.mark.parametrize(
    "payload",
    [
        '{"a":30.4,"b":0.1,"c":1' + "0" * 39 + ',"d":' + "1" * 39 + "}",
        '{"a":1e39,"b":-0.0,"c":1.7976931348623157e308,"d":5e-324}',
        '{"a":9007199254740993,"b":-170141183460469231731687303715884105728}',
        '{"a":0.30000000000000004,"b":123456789.12345679}',
    ],
)
def test_fault_12_numbers_come_back_as_they_were(stack: Stack, payload: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body=body_of(payload))
    assert answer.status == 201
    read = stack.call("get_job", answer.json["id"], caller=producer())
    assert read.json["payload"] == json.loads(payload)
    assert "30.400000000000002" not in read.text


@pytest.mark.parametrize("number", ["9007199254740993.0", "123456789.123456789", "0.10000000000000000001"])
def test_fault_12_numbers_that_would_come_back_as_others_are_refused(stack: Stack, number: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body=body_of(f'{{"a":{number}}}'))
    assert answer.status == 422
    assert [error["code"] for error in answer.json["errors"]] == ["too_precise"]
    assert stack.items() == []


@pytest.mark.parametrize(
    "body",
    [
        body_of('{"v":NaN}'),
        body_of('{"v":1e999}'),
        body_of('{"v":-Infinity}'),
        '{"type":"note","priority":"low","priority":"critical"}',
        body_of('{"a":{"b":1,"b":2}}'),
        body_of('{"v":' + "1" * 5000 + "}"),
        body_of("{'v':1}"),
        body_of('{"v":1,}'),
        '{"type":"note"} x',
        '\ufeff{"type":"note"}',
        "{",
        " ",
        "null",
        "[]",
        '"note"',
        "1",
        "[" * 100_000,
        '{"type":"note\n"}',
        '{"type":"note","payload":{"a":"\\ud83d", "a":1}}',
    ],
)
def test_fault_13_what_is_not_one_json_object_is_400(stack: Stack, body: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    if body.startswith("[["):
        assert answer.status in {400, 422}
    else:
        assert (answer.status, answer.problem) == (400, "invalid-json")
    assert stack.items() == []


@pytest.mark.parametrize("depth", [33, 101, 2000, 100_000 // 12])
def test_depth_is_refused_and_not_met_with_a_crash(stack: Stack, depth: int) -> None:
    nested = '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)
    answer = stack.call("enqueue_job", caller=producer(), body=body_of(nested))
    assert answer.status == 422
    assert set(answer.fields.values()) == {"too_deep"}
    assert stack.items() == []


def test_depth_that_is_allowed(stack: Stack) -> None:
    nested = '{"a":' * 31 + "{}" + "}" * 31
    assert stack.call("enqueue_job", caller=producer(), body=body_of(nested)).status == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (body_of('{"v":"\\ud83d"}'), "payload"),
        (body_of('{"\\ud83d":1}'), "payload"),
        (body_of('{"v":["\\ude00\\ud83d"]}'), "payload"),
        ('{"type":"note","idempotency_key":"\\ud83d"}', "idempotency_key"),
    ],
)
def test_fault_14_half_of_a_surrogate_pair_is_422(stack: Stack, body: str, field: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert answer.status == 422
    assert answer.fields == {field: "invalid_unicode"}
    assert stack.items() == []


@pytest.mark.parametrize("body", ['{"type":"\\ud83d"}', '{"type":"note","queue":"\\ud83d"}'])
def test_fault_14_in_a_name(stack: Stack, body: str) -> None:
    assert stack.call("enqueue_job", caller=producer(), body=body).status == 422


def test_fault_14_in_a_field_name(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body='{"type":"note","\\ud83d":1}')
    assert answer.fields == {"body": "invalid_unicode"}


def test_fault_14_a_whole_pair_round_trips(stack: Stack) -> None:
    body = '{"type":"note","payload":{"\\ud83d\\ude00":"\\ud83d\\ude00"},"idempotency_key":"\\ud83d\\ude00"}'
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert answer.status == 201
    read = stack.call("get_job", answer.json["id"], caller=producer()).json
    assert read["payload"] == {"😀": "😀"}
    assert read["idempotency_key"] == "😀"


@pytest.mark.parametrize(
    ("member", "function"),
    [("result", "complete_job"), ("progress", "heartbeat_job"), ("lease_token", "release_job")],
)
def test_fault_14_of_a_worker(stack: Stack, member: str, function: str) -> None:
    job_id = stack.enqueue()
    stack.claim()
    answer = stack.call(function, job_id, caller=worker(), body=f'{{"{member}":"\\ud83d"}}')
    assert answer.status == 422
    assert answer.fields == {member: "invalid_unicode"}


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", "wrong_length"),
        ("😀" * 600, "wrong_length"),
        ("a" * 256, "wrong_length"),
        ("a\n", "control_character"),
    ],
)
def test_fault_15_keys_that_are_none(stack: Stack, key: str, code: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={**NOTE, "idempotency_key": key})
    assert answer.fields == {"idempotency_key": code}
    assert stack.items() == []


@pytest.mark.parametrize("key", [None, "a", "😀" * 255])
def test_fault_15_keys_that_are_fine(stack: Stack, key: str | None) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body={**NOTE, "idempotency_key": key})
    assert answer.status == 201
    assert answer.json["idempotency_key"] == key


def test_fault_16_base64(stack: Stack) -> None:
    encoded = base64.b64encode(json.dumps({**NOTE, "payload": {"a": "é"}}).encode())
    answer = stack.call("enqueue_job", caller=producer(), body=encoded, base64_encoded=True)
    assert answer.status == 201


@pytest.mark.parametrize(
    "body",
    ["not base64!", base64.b64encode(b'{"type":"\xff"}').decode(), base64.b64encode(b"\x00").decode(), "e30"],
)
def test_fault_16_bad_base64_and_bad_utf_8(stack: Stack, body: str) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body=body, base64_encoded=True)
    assert (answer.status, answer.problem) == (400, "invalid-json")


def test_fault_16_a_body_that_no_utf_8_can_carry(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=producer(), body='{"type":"note","payload":{"a":"\ud83d"}}')
    assert (answer.status, answer.problem) == (400, "invalid-json")


def test_a_body_that_is_no_text(stack: Stack) -> None:
    event = authorized({**http_event("enqueue_job"), "body": {"type": "note"}}, context(producer()))
    answer = stack.send("enqueue_job", event)
    assert (answer.status, answer.problem) == (400, "invalid-json")


@pytest.mark.parametrize("body", [None, ""])
def test_fault_16_no_body_where_one_is_needed(stack: Stack, body: str | None) -> None:
    for function in ("enqueue_job", "enqueue_jobs"):
        answer = stack.call(function, caller=producer(), body=body)
        assert (answer.status, answer.problem) == (400, "invalid-json")
    for function in ("claim_jobs", "complete_jobs"):
        answer = stack.call(function, caller=worker(), body=body)
        assert (answer.status, answer.problem) == (400, "invalid-json")


def test_fault_16_no_body_where_none_is_needed(stack: Stack) -> None:
    job_id = stack.enqueue()
    assert stack.call("claim_job", caller=worker()).status == 200
    assert stack.call("heartbeat_job", job_id, caller=worker()).status == 200
    assert stack.call("release_job", job_id, caller=worker(), body="").status == 200
    assert stack.call("cancel_job", job_id, caller=admin()).status == 200
    assert stack.call("retry_job", job_id, caller=admin()).status == 200
    stack.claim()
    assert stack.call("complete_job", job_id, caller=worker()).status == 200


def test_a_body_where_none_is_needed_is_looked_at(stack: Stack) -> None:
    job_id = stack.enqueue()
    answer = stack.call("cancel_job", job_id, caller=admin(), body={"force": True})
    assert answer.fields == {"force": "unknown_field"}
    assert stack.call("cancel_job", job_id, caller=admin(), body="null").status == 400


@pytest.mark.parametrize("base64_encoded", [True, False])
def test_a_body_that_is_too_large_is_413(stack: Stack, base64_encoded: bool) -> None:
    def post(size: int) -> Any:
        text = json.dumps(NOTE).ljust(size)
        body = base64.b64encode(text.encode()).decode() if base64_encoded else text
        return stack.call("enqueue_job", caller=producer(), body=body, base64_encoded=base64_encoded)

    assert post(131_072).status == 201
    above = post(131_073)
    assert (above.status, above.problem) == (413, "body-too-large")


def test_size_counts_bytes_and_not_characters(stack: Stack) -> None:
    body = body_of(json.dumps({"a": "é" * 65_536}, ensure_ascii=False))
    assert stack.call("enqueue_job", caller=producer(), body=body).status == 413


def test_a_payload_that_is_too_large_is_422(stack: Stack) -> None:
    fits = {"a": "x" * (65_536 - 8)}
    assert stack.call("enqueue_job", caller=producer(), body={**NOTE, "payload": fits}).status == 201
    above = stack.call("enqueue_job", caller=producer(), body={**NOTE, "payload": {"a": fits["a"] + "x"}})
    assert above.fields == {"payload": "too_long"}
