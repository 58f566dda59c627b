"""Whatever a stranger sends is read or refused: no exception, no 5xx, no more work than it is long."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jobqueue.api import cursors, problems
from jobqueue.api.request import MAX_BODY_BYTES, read_body, read_request
from jobqueue.authorizer import Authorizer
from jobqueue.authorizer import context as authorizer_context
from jobqueue.errors import InvalidCursor, JobQueueError
from jobqueue.job import JobStatus
from jobqueue.keys import create_key, open_keys_table
from jobqueue.queue import JobFilter, Position
from tests.support.callers import admin, producer
from tests.support.events import authorized, http_event
from tests.support.faults import counted
from tests.support.http import ENVIRONMENT, Stack, deployed_tables, running_stack
from tests.support.issuer import Issuer, claims, encoded, signed, verifier_of
from tests.support.work import counted_work

# one deployment for all examples of a test, which never changes for them
SHARED = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
"""What JSON can carry, and NaN, infinities and halves of pairs."""

PIECES = [
    *'{}[]:,"\\ \n\t\0',
    "null",
    "true",
    "NaN",
    "1e999",
    "-0",
    "1e-999",
    '"a":',
    "\\u0000",
    "\\ud83d",
    "é",
    "😀",
]
jsonish = st.lists(st.sampled_from(PIECES) | st.text(max_size=3) | anything.map(json.dumps), max_size=30).map(
    "".join
)
"""What begins like JSON, and goes wrong somewhere."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, deployed_tables() as client:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with running_stack(client) as running:
            yield running


def read(event: dict[str, Any]) -> None:
    """Read a body; it must be an object, nothing, or refused with an answer of its own."""
    refused: JobQueueError | None = None
    found = None
    try:
        found = read_body(event, read_request(event), MAX_BODY_BYTES)
    except JobQueueError as error:
        refused = error
    assert found is None or isinstance(found, dict)
    assert refused is None or 400 <= problems.kind_of(refused).status < 500


@given(st.binary(max_size=400) | jsonish.map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"[" * 100_000)
@example(b'{"a":' * 20_000)
@example(b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}")
@example(b'{"a":' + b"9" * 100_000 + b"}")
@example(b'{"a":1e' + b"9" * 100_000 + b"}")
@example(b'{"a":"' + b"\\u0000" * 20_000 + b'"}')
@example(b'{"a":"' + b"\\" * 100_001 + b'"}')
@example(b"{" + b",".join(b'"%d":0' % number for number in range(12_000)) + b"}")
@example(b'{"a":[' + b"{}," * 30_000 + b"{}]}")
@example(b" " * 131_072)
def test_any_bytes_are_an_object_or_refused(body: bytes) -> None:
    event = {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    with counted_work() as done:
        read(event)
    assert done() < 10 * len(body) + 2_000


@given(anything | jsonish, anything, st.dictionaries(st.text(max_size=20), anything, max_size=3))
def test_any_event_has_a_body_or_none(body: Any, is_base64: Any, headers: dict[str, Any]) -> None:
    read({"body": body, "isBase64Encoded": is_base64, "headers": headers})


@given(jsonish)
@SHARED
def test_any_text_as_a_body_is_answered(stack: Stack, text: str) -> None:
    for function, caller in (("enqueue_job", producer()), ("cancel_job", admin())):
        answer = stack.call(function, "job_nope", caller=caller, body=text)
        assert answer.status < 500


@given(
    st.dictionaries(st.sampled_from(["type", "payload", "queue", "priority", "run_at", "x", "é"]), anything)
)
@SHARED
def test_any_members_are_answered(stack: Stack, members: dict[str, Any]) -> None:
    before = stack.items()
    body = json.dumps({"type": "note", "max_retries": 3, **members})
    answer = stack.call("enqueue_job", caller=producer(), body=body)
    assert answer.status < 500
    assert answer.status < 300 or stack.items() == before


@given(st.data())
@SHARED
def test_any_event_is_answered(stack: Stack, data: st.DataObject) -> None:
    """Parts of the event are anything at all: the gateway would never do that."""
    event = authorized(http_event("get_job", "job_nope"), authorizer_context(admin()))
    for part in (event["requestContext"], event):
        for name in data.draw(st.sets(st.sampled_from(sorted(part)), max_size=2)):
            part[name] = data.draw(anything)
    assert stack.send("get_job", event).status < 500


@given(
    st.lists(st.tuples(st.sampled_from(["limit", "status", "cursor", "x", ""]) | st.text(), st.text())),
    st.booleans(),
)
@SHARED
def test_any_query_is_answered(stack: Stack, pairs: list[tuple[str, str]], is_sane: bool) -> None:
    separator = "&" if is_sane else ";"
    raw = separator.join(f"{name}={value}" for name, value in pairs)
    answer = stack.call("list_jobs", caller=producer(), query=raw)
    assert answer.status < 500


def test_many_parameters_are_no_more_work_than_they_are_long() -> None:
    query = "&".join(f"p{number}" for number in range(2_000))
    with counted_work() as done:
        read_request({"rawQueryString": query})
    assert done() < 20 * len(query)


# ---------------------------------------------------------------- cursors

ROUTE = "GET /jobs"
ALL = JobFilter()
PLACE = Position(
    lane="default/pending/0/0",
    lane_order="2026-11-30T02:26:02.123456Z#job_01ARYZ6S410123456789ABCDEF",
    id="job_01ARYZ6S410123456789ABCDEF",
)


def wrapped(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")) | anything.map(wrapped))
@example(base64.urlsafe_b64encode(b"[" * 700).decode())
@example(wrapped(["a", "b", "c", "d"]))
@example("=" * 1024)
@example("A" * 100_000)
def test_any_text_is_no_cursor(text: str) -> None:
    with counted_work() as done, pytest.raises(InvalidCursor):
        cursors.decode(text, producer(), ROUTE, ALL)
    assert done() < 10_000


@given(st.data())
def test_a_cursor_with_a_letter_changed_is_none(data: st.DataObject) -> None:
    cursor = cursors.encode(PLACE, producer(), ROUTE, ALL)
    assert cursor is not None
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.characters() | st.sampled_from("ABCabc019-_=+/"))
    changed = cursor[:place] + letter + cursor[place + 1 :]
    if changed == cursor:
        assert cursors.decode(changed, producer(), ROUTE, ALL) == PLACE
    else:
        with pytest.raises(InvalidCursor):
            cursors.decode(changed, producer(), ROUTE, ALL)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(names, names, names, st.none() | st.sampled_from(JobStatus), st.none() | names)
def test_a_cursor_is_read_as_it_was_written(
    lane: str, order: str, job_id: str, status: JobStatus | None, queue: str | None
) -> None:
    place, wanted = Position(lane=lane, lane_order=order, id=job_id), JobFilter(status=status, queue=queue)
    cursor = cursors.encode(place, producer(), ROUTE, wanted)
    assert cursors.decode(cursor, producer(), ROUTE, wanted) == place
    for other in (producer("store"), producer("shop", "emails"), admin("shop")):
        if other != producer() and (other.id, other.queues) != (producer().id, producer().queues):
            with pytest.raises(InvalidCursor):
                cursors.decode(cursor, other, ROUTE, wanted)


# ---------------------------------------------------------------- the authorizer

REFUSED = {"isAuthorized": False, "context": {}}


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(scope="module")
def authorizer(stack: Stack, issuer: Issuer) -> Authorizer:
    return Authorizer(open_keys_table(stack.client), jwts=verifier_of(issuer))


@pytest.fixture(scope="module")
def key(stack: Stack) -> str:
    return create_key("fuzzed", role="admin")


def asked(header: Any) -> dict[str, Any]:
    return {**http_event("list_jobs"), "headers": {"authorization": header}, "identitySource": [header]}


def refuse(stack: Stack, issuer: Issuer, authorizer: Authorizer, event: Any) -> None:
    """Let a request be refused, at the cost of one look at the keys and one fetch at most."""
    fetched = len(issuer.asked)
    with counted(stack.client) as sent:
        assert authorizer.answer(event) == REFUSED
    assert sent.total() <= 1
    assert len(issuer.asked) <= fetched + 1
    assert set(issuer.asked) <= {"https://id.example.com/jwks.json"}


parts = anything.map(encoded) | st.binary(max_size=40).map(encoded) | st.text(max_size=20)
headers = st.text() | st.lists(parts, min_size=1, max_size=5).map(".".join).map("Bearer {}".format)


@given(headers | st.text(max_size=60).map("Bearer jq_{}".format) | anything)
@example("Bearer " + "." * 8_000)
@example("Bearer " + "a" * 1_000_000)
@example("Bearer" + " " * 1_000_000 + "a")
@example("Bearer " + "=" * 8_000)
@SHARED
def test_any_header_is_refused(stack: Stack, issuer: Issuer, authorizer: Authorizer, header: Any) -> None:
    refuse(stack, issuer, authorizer, asked(header))


@given(st.dictionaries(st.sampled_from(["headers", "identitySource", "requestContext", "type"]), anything))
@SHARED
def test_any_question_is_refused(
    stack: Stack, issuer: Issuer, authorizer: Authorizer, event: dict[str, Any]
) -> None:
    refuse(stack, issuer, authorizer, event)


TOKEN_HEADERS = ["alg", "kid", "typ", "jku", "x5u", "jwk", "crit", "b64", "zip", "cty"]


@given(
    st.dictionaries(
        st.sampled_from(TOKEN_HEADERS), anything | st.sampled_from(["RS256", "none", "HS256", "rsa"])
    ),
    st.dictionaries(st.sampled_from([*claims(), "nbf", "iat", "jti"]), anything),
)
@SHARED
def test_a_token_with_an_odd_header_or_odd_claims_is_refused_or_good(
    stack: Stack, issuer: Issuer, authorizer: Authorizer, header: dict[str, Any], changes: dict[str, Any]
) -> None:
    """Signed by the issuer itself: so whatever is good in it counts, and nothing else."""
    token = signed(claims(**changes), {"alg": "RS256", "kid": "rsa", **header})
    answer = authorizer.answer(asked(f"Bearer {token}"))
    if answer != REFUSED:
        assert answer["isAuthorized"] is True
        assert all(isinstance(value, str) for value in answer["context"].values())
        event = authorized(http_event("get_job", "job_nope"), answer["context"])
        assert stack.send("get_job", event).problem in {"job-not-found", "role-not-allowed"}


@given(st.data())
@SHARED
def test_a_credential_with_a_letter_changed_is_refused(
    stack: Stack, issuer: Issuer, authorizer: Authorizer, key: str, data: st.DataObject
) -> None:
    credential = data.draw(st.sampled_from([key, signed(claims())]))
    place = data.draw(st.integers(0, len(credential) - 2))  # the last letter has bits that mean nothing
    letter = data.draw(st.sampled_from("ABCDEFabcdef0123456789-_."))
    changed = credential[:place] + letter + credential[place + 1 :]
    if changed != credential:
        refuse(stack, issuer, authorizer, asked(f"Bearer {changed}"))
