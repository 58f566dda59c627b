from __future__ import annotations

import copy
import logging
import traceback

import httpx
import pytest

import jobqueue_client
from jobqueue_client import Client, ClientError, FieldError, InvalidRequest, UnexpectedAnswer
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi, problem


def error_of(answer: httpx.Response) -> ClientError:
    transport = httpx.MockTransport(lambda _: answer)
    with (
        Client(URL, KEY, transport=transport, clock=InstantClock()) as client,
        pytest.raises(ClientError) as caught,
    ):
        client.get("job_1")
    return caught.value


@pytest.mark.parametrize(
    ("status", "slug", "name"),
    [
        (400, "invalid-json", "InvalidJson"),
        (400, "invalid-cursor", "InvalidCursor"),
        (403, "unauthenticated", "Unauthorized"),
        (403, "role-not-allowed", "RoleNotAllowed"),
        (403, "queue-not-allowed", "QueueNotAllowed"),
        (403, "priority-not-allowed", "PriorityNotAllowed"),
        (404, "job-not-found", "JobNotFound"),
        (404, "route-not-found", "NotFound"),
        (409, "job-not-held", "JobNotHeld"),
        (409, "replay-mismatch", "ReplayMismatch"),
        (409, "job-not-cancellable", "JobNotCancellable"),
        (409, "job-not-retryable", "JobNotRetryable"),
        (409, "something-new", "Conflict"),
        (413, "body-too-large", "TooLarge"),
        (415, "unsupported-media-type", "BadRequest"),
        (422, "invalid-request", "InvalidRequest"),
        (422, "idempotency-key-reused", "IdempotencyKeyReused"),
        (429, "too-many-requests", "TooManyRequests"),
        (500, "internal-error", "ServerError"),
        (503, "unavailable", "Unavailable"),
    ],
)
def test_each_problem_has_its_class(status: int, slug: str, name: str) -> None:
    error = error_of(problem(status, slug))
    assert type(error) is getattr(jobqueue_client, name)
    assert (error.status, error.problem, error.request_id) == (status, slug, "req-1")
    assert str(error) == f"about {slug} [request req-1]"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (429, "TooManyRequests"),
        (500, "ServerError"),
        (503, "Unavailable"),
        (504, "ServerError"),
    ],
)
def test_what_the_gateway_says_is_understood(status: int, name: str) -> None:
    answer = httpx.Response(status, json={"message": "The gateway"}, headers={"apigw-requestid": "gw-7"})
    error = error_of(answer)
    assert type(error) is getattr(jobqueue_client, name)
    assert str(error) == "The gateway [request gw-7]"
    assert error.problem is None


@pytest.mark.parametrize(
    "content", [b"<html>502 CANARY</html>", b"", b"\xff", b"[1]", b'"text"', b'{"message": 7}']
)
def test_a_body_that_is_no_error_of_ours_is_not_quoted(content: bytes) -> None:
    error = error_of(httpx.Response(502, content=content))
    assert str(error) == "The API answered 502."


@pytest.mark.parametrize(
    "content", [b"<html>welcome</html>", b"[]", b"", b"{}", b'{"id": 3}', b'{"id": "job_1"}']
)
def test_a_success_that_is_no_job_is_said_to_be_none(content: bytes) -> None:
    assert isinstance(error_of(httpx.Response(200, content=content)), UnexpectedAnswer)


def test_a_redirect_is_not_followed_with_the_key() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.host)
        return httpx.Response(302, headers={"location": "https://elsewhere.example.org/"})

    with (
        Client(URL, KEY, transport=httpx.MockTransport(answer)) as client,
        pytest.raises(UnexpectedAnswer),
    ):
        client.get("job_1")
    assert seen == ["queue.example.com"]


def test_the_refused_fields_are_told() -> None:
    told = [{"field": "payload.to", "code": "missing", "message": "Field required", "more": 1}, "odd"]
    error = error_of(problem(422, "invalid-request", errors=told))
    assert isinstance(error, InvalidRequest)
    assert error.errors == (FieldError("payload.to", "missing", "Field required"),)
    assert "payload.to: Field required" in str(error)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("is required", "type: is required"),
        ("types are many", "type: types are many"),
        ("type is not declared", "type is not declared"),
        ("type: is required", "type: is required"),
    ],
)
def test_a_refused_field_is_named_once(message: str, told: str) -> None:
    assert str(FieldError("type", "wrong", message)) == told


def test_an_error_survives_pickling() -> None:
    error = error_of(problem(422, "invalid-request"))
    # by the same way as pickle, which carries errors between processes
    other = copy.copy(error)
    assert type(other) is type(error)
    assert (other.status, other.problem, str(other)) == (422, "invalid-request", str(error))


@pytest.mark.parametrize(
    "url",
    [
        "http://queue.example.com",
        "http://localhost.example.com",
        "http://10.0.0.1",
        "ftp://queue.example.com",
        "queue.example.com",
        "",
        "https://user:secret@queue.example.com",
        "https://queue.example.com/?key=secret",
        "https://queue.example.com:port",
    ],
)
def test_a_url_that_would_leak_the_key_or_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL") as caught:
        Client(url, KEY)
    assert "secret" not in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url", ["http://localhost:4566/x", "http://127.0.0.1", "http://[::1]:80", "http://api.localhost"]
)
def test_plain_http_is_fine_on_this_machine(url: str) -> None:
    Client(url, KEY).close()


def test_plain_http_elsewhere_has_to_be_allowed() -> None:
    Client("http://queue.example.com", KEY, allow_http=True).close()


@pytest.mark.parametrize("key", ["", "jq_CANARY\n", "jq_ CANARY", "jq_CANARYé"])
def test_a_key_that_cannot_travel_is_refused_unquoted(key: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII") as caught:
        Client(URL, key)
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))


def test_the_key_is_in_no_repr_message_or_log_line(
    api: FakeApi, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api.faults += [("get", "lost")] * 9
    with pytest.raises(ClientError) as caught:
        client.get("job_1")
    told = [repr(client), "".join(traceback.format_exception(caught.value)), repr(caught.value), caplog.text]
    assert not [text for text in told if KEY in text]


def test_the_key_is_sent_with_every_call() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["user-agent"].startswith("jobqueue-client/")
        return httpx.Response(204)

    with Client(URL, KEY, transport=httpx.MockTransport(answer)) as client:
        assert client.claim() is None
