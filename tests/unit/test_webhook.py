"""Webhooks as receivers get them: signed, whole, and within a time that a receiver cannot stretch."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from jobqueue.errors import InvalidSettings
from jobqueue.webhooks import sending
from jobqueue.webhooks.message import Target, body_of
from jobqueue.webhooks.refusals import NotDelivered
from jobqueue.webhooks.retry_after import retry_after
from jobqueue.webhooks.sending import Patience, send
from jobqueue.webhooks.signing import host_key, shown_key, signature_headers
from jobqueue.webhooks.webhook import Answered, Webhook, WebhookSender
from tests.support.certificates import Authority
from tests.support.clock import START, FakeClock
from tests.support.receiver import Receiver, receiving, serving

MASTER = b"a master secret"
HOST = "hooks.example.com"
QUICK = Patience(connect=5, read=5, whole=0.3)


class Secret:
    """A secret that needs no look-up."""

    def read(self) -> bytes:
        return MASTER


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def resolve(_: str, port: int, **__: Any) -> list[Any]:
    """Answer with this machine, whatever is asked for."""
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


def sender(clock: FakeClock | None = None, **options: Any) -> WebhookSender:
    return WebhookSender(
        Secret(), allow_loopback=True, clock=clock or FakeClock(), resolve=resolve, **options
    )


def webhook(url: str, body: Any = None, *, method: str = "POST", **headers: str) -> Webhook:
    return Webhook(id="job_1", url=url, method=method, headers=headers, body=body)


# ---------------------------------------------------------------- signatures


def test_the_signature_is_the_one_of_standard_webhooks() -> None:
    # computed with the reference library: https://github.com/standard-webhooks/standard-webhooks
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = signature_headers(
        key,
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        sent_at=datetime.fromtimestamp(1614265330, UTC),
        body=b'{"test": 2432232314}',
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_receiver_can_check_what_it_got(receiver: Receiver) -> None:
    sender().send(webhook(receiver.url(HOST), {"event": "ü", "n": 1}))
    (request,) = receiver.received
    key = base64.b64decode(shown_key(host_key(MASTER, HOST)).removeprefix("whsec_"))
    signed = f"job_1.{request.headers['webhook-timestamp']}.".encode() + request.body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    assert request.headers["webhook-id"] == "job_1"
    assert request.headers["webhook-timestamp"] == str(int(START.timestamp()))


def test_each_attempt_has_its_own_time_and_the_same_id(receiver: Receiver) -> None:
    clock = FakeClock()
    for _ in range(2):
        sender(clock).send(webhook(receiver.url(HOST)))
        clock.advance(60)
    first, second = (request.headers for request in receiver.received)
    assert first["webhook-id"] == second["webhook-id"]
    assert int(second["webhook-timestamp"]) - int(first["webhook-timestamp"]) == 60
    assert first["webhook-signature"] != second["webhook-signature"]


def test_one_receivers_key_is_nothing_to_another() -> None:
    assert host_key(MASTER, "a.example.com") != host_key(MASTER, "b.example.com")
    assert host_key(MASTER, "a.example.com") != host_key(b"another", "a.example.com")
    assert len(host_key(MASTER, "a.example.com")) == 32


@pytest.mark.parametrize("host", ["Hooks.Example.com", "hooks.example.com."])
def test_a_host_has_one_key_however_it_is_spelled(host: str) -> None:
    assert host_key(MASTER, host) == host_key(MASTER, HOST)


# ---------------------------------------------------------------- what is sent


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
def test_a_request_is_sent_as_asked(receiver: Receiver, method: str) -> None:
    url = receiver.url(HOST, "/a/b?c=d&e=%20")
    answered = sender().send(webhook(url, {"n": 1}, method=method, **{"X-Shop": "main"}))
    assert answered == Answered(status=200, retry_after_seconds=None)
    (request,) = receiver.received
    assert (request.method, request.path) == (method, "/a/b?c=d&e=%20")
    assert json.loads(request.body) == {"n": 1}
    assert request.headers["host"] == f"{HOST}:{receiver.port}"
    assert request.headers["x-shop"] == "main"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "jobqueue"


def test_a_string_is_sent_as_it_is(receiver: Receiver) -> None:
    sender().send(webhook(receiver.url(HOST), "<order/>", **{"Content-Type": "application/xml"}))
    assert receiver.received[0].body == b"<order/>"
    assert receiver.received[0].headers["content-type"] == "application/xml"


def test_no_body_is_no_body(receiver: Receiver) -> None:
    sender().send(webhook(receiver.url(HOST)))
    assert receiver.received[0].body == b""
    assert "content-type" not in receiver.received[0].headers


def test_json_is_sent_compact_and_unescaped() -> None:
    assert body_of({"a": ["ü", 1.5]})[0] == '{"a":["ü",1.5]}'.encode()


@pytest.mark.parametrize(
    "url, authority, port",
    [
        ("http://h.example.com", "h.example.com", 80),
        ("https://h.example.com/x", "h.example.com", 443),
        ("https://h.example.com:8443/", "h.example.com:8443", 8443),
        ("http://[2600:1f18::1]/", "[2600:1f18::1]", 80),
    ],
)
def test_a_url_says_where_to(url: str, authority: str, port: int) -> None:
    target = Target.of(url)
    assert (target.authority, target.port) == (authority, port)
    assert target.path.startswith("/")


# ---------------------------------------------------------------- TLS


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """An authority that this process trusts instead of all others."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    sending._trust.cache_clear()
    yield made
    sending._trust.cache_clear()


def test_the_certificate_is_checked_for_the_name_and_not_the_address(authority: Authority) -> None:
    with receiving(authority.server_context(HOST)) as receiver:
        assert sender().send(webhook(receiver.url(HOST, scheme="https"))).status == 200
        assert receiver.received[0].headers["host"] == f"{HOST}:{receiver.port}"
        with pytest.raises(NotDelivered):
            sender().send(webhook(receiver.url("other.example.com", scheme="https")))
    assert len(receiver.received) == 1


def test_a_certificate_of_nobody_is_refused(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    stranger = Authority(tmp_path / "stranger")
    with (
        receiving(stranger.server_context(HOST)) as receiver,
        pytest.raises(NotDelivered, match="SSLCertVerificationError"),
    ):
        sender().send(webhook(receiver.url(HOST, scheme="https")))
    assert receiver.received == []


def test_a_handshake_that_never_ends_is_cut_off(authority: Authority) -> None:
    stop = threading.Event()
    with serving(lambda connection: _hold(connection, stop)) as port:
        with pytest.raises(NotDelivered):
            sender(patience=QUICK).send(webhook(f"https://{HOST}:{port}/"))
        stop.set()


# ---------------------------------------------------------------- receivers that misbehave


def _hold(connection: socket.socket, stop: threading.Event) -> None:
    stop.wait(30)
    connection.close()


def _drip(connection: socket.socket) -> None:
    connection.recv(65_536)
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10_000:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def _garbage(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(b"220 mail.example.com ESMTP\r\n")


def _endless_body(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


def _hang_up(connection: socket.socket) -> None:
    connection.recv(65_536)


@pytest.mark.parametrize("converse", [_drip, _garbage, _hang_up])
def test_no_answer_is_no_delivery(converse: Any) -> None:
    with serving(converse) as port, pytest.raises(NotDelivered):
        sender(patience=QUICK).send(webhook(f"http://{HOST}:{port}/"))


def test_an_endless_body_is_not_read_to_its_end() -> None:
    with serving(_endless_body) as port:
        assert sender().send(webhook(f"http://{HOST}:{port}/")).status == 201


def test_a_closed_port_is_no_delivery() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotDelivered):
        sender().send(webhook(f"http://{HOST}:{port}/"))


def _bad_headers(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nno header\r\n\r\n")


@pytest.mark.parametrize("converse", [_hang_up, _bad_headers])
def test_neither_the_path_nor_the_address_is_told(converse: Any, caplog: pytest.LogCaptureFixture) -> None:
    told = ""
    with serving(converse) as port:
        try:
            sender().send(webhook(f"http://{HOST}:{port}/CANARY?token=CANARY"))
        except NotDelivered as failed:
            told = str(failed)
    assert "CANARY" not in told + caplog.text
    assert "127.0.0.1" not in told + caplog.text


def test_the_next_address_is_tried_where_one_does_not_accept(receiver: Receiver) -> None:
    addresses = [ip_address("127.0.0.2"), ip_address("127.0.0.1")]  # nobody listens on the first
    answer = send(
        Target.of(receiver.url()), addresses, method="GET", headers={}, body=b"", patience=Patience()
    )
    assert answer.status == 200


# ---------------------------------------------------------------- Retry-After


@pytest.mark.parametrize(
    "value, seconds",
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("0", 0),
        (" 120 ", 120),
        ("9" * 18, 604_800),
        ("Mon, 30 Nov 2026 02:27:02 GMT", 59.876544),
        ("Mon, 30 Nov 2026 02:27:02 -0000", 59.876544),
        ("Monday, 30-Nov-26 02:27:02 GMT", 59.876544),
        ("Mon, 30 Nov 2020 02:27:02 GMT", 0),
        ("Mon, 30 Nov 2099 02:27:02 GMT", 604_800),
        ("Mon, 99 Nov 2026 02:27:02 GMT", None),
        ("Mon, 30 Nov 99999999999999999999 02:27:02 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, START, most=604_800) == seconds


def test_what_an_answer_asks_for_is_told(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 503, {"Retry-After": "7"}
    assert sender().send(webhook(receiver.url(HOST))) == Answered(status=503, retry_after_seconds=7)


# ---------------------------------------------------------------- the environment


@pytest.mark.parametrize("value, allowed", [("true", True), ("false", False), ("", False)])
def test_loopback_is_allowed_by_name_alone(value: str, allowed: bool) -> None:
    made = WebhookSender.from_env({"WEBHOOK_SECRET_ARN": "arn", "WEBHOOK_ALLOW_LOOPBACK": value})
    assert made.allows_loopback is allowed


@pytest.mark.parametrize("environment", [{}, {"WEBHOOK_SECRET_ARN": "arn", "WEBHOOK_ALLOW_LOOPBACK": "yes"}])
def test_an_environment_that_is_not_usable_is_told(environment: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings):
        WebhookSender.from_env(environment)


def test_a_clock_that_is_off_by_a_zone_signs_the_same_time() -> None:
    there = START.astimezone(datetime.now().astimezone().tzinfo) + timedelta(0)
    assert signature_headers(b"k", message_id="m", sent_at=there, body=b"") == signature_headers(
        b"k", message_id="m", sent_at=START, body=b""
    )
