"""The issuer's keys: when they are fetched, how long they hold, and what is none."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from jobqueue.errors import InvalidSettings, InvalidToken, Unavailable
from jobqueue.principal import Role
from jobqueue.tokens.jwks import MAX_BYTES, KeySet, fetch_url, read_keys
from jobqueue.tokens.jwts import JwtSettings, JwtVerifier
from tests.support.issuer import (
    ENVIRONMENT,
    ISSUER,
    JWKS,
    OTHER_RSA_KEY,
    RSA_KEY,
    Issuer,
    claims,
    public,
    signed,
    verifier_of,
)

GOOD = signed(claims())
WEAK_BITS = 1024


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def verifier(issuer: Issuer) -> JwtVerifier:
    return verifier_of(issuer)


def test_a_weak_key_is_refused(issuer: Issuer) -> None:
    weak = rsa.generate_private_key(65537, WEAK_BITS)
    issuer.document = json.dumps({"keys": [public(weak, kid="rsa")]}).encode()
    with pytest.raises(InvalidToken):
        verifier_of(issuer).verify(signed(claims(), key=weak))


def test_a_published_private_key_signs_for_nobody() -> None:
    leaked: dict[str, Any] = {**RSAAlgorithm.to_jwk(RSA_KEY, as_dict=True), "kid": "rsa"}
    assert read_keys(json.dumps({"keys": [leaked]}).encode()) == {}


def test_keys_are_fetched_once_and_kept(verifier: JwtVerifier, issuer: Issuer) -> None:
    for _ in range(5):
        verifier.verify(GOOD)
    issuer.now += 3599
    verifier.verify(GOOD)
    assert len(issuer.asked) == 1
    issuer.now += 2
    verifier.verify(GOOD)
    assert len(issuer.asked) == 2


def test_unknown_keys_are_looked_for_at_most_once_a_minute(verifier: JwtVerifier, issuer: Issuer) -> None:
    verifier.verify(GOOD)
    for number in range(50):
        with pytest.raises(InvalidToken):
            verifier.verify(signed(claims(), {"alg": "RS256", "kid": f"made-up-{number}"}))
        issuer.now += 1
    assert len(issuer.asked) == 1
    issuer.now += 10
    with pytest.raises(InvalidToken):
        verifier.verify(signed(claims(), {"alg": "RS256", "kid": "made-up"}))
    assert len(issuer.asked) == 2


def test_a_new_key_of_the_issuer_is_found(verifier: JwtVerifier, issuer: Issuer) -> None:
    verifier.verify(GOOD)
    issuer.document = json.dumps({"keys": [public(OTHER_RSA_KEY, kid="new")]}).encode()
    issuer.now += 60
    token = signed(claims(), {"alg": "RS256", "kid": "new"}, OTHER_RSA_KEY)
    assert verifier.verify(token).role is Role.PRODUCER
    with pytest.raises(InvalidToken):
        verifier.verify(GOOD)  # the old one was taken back


def test_a_key_that_was_taken_back_signs_nothing_more_once_the_keys_are_an_hour_old(
    verifier: JwtVerifier, issuer: Issuer
) -> None:
    verifier.verify(GOOD)
    issuer.document = json.dumps({"keys": [public(OTHER_RSA_KEY, kid="new")]}).encode()
    issuer.now += 3599
    verifier.verify(GOOD)  # nobody could know
    issuer.now += 101
    for _ in range(2):
        with pytest.raises(InvalidToken):
            verifier.verify(GOOD)
    assert len(issuer.asked) == 2


def test_an_issuer_without_any_key_left_is_believed(verifier: JwtVerifier, issuer: Issuer) -> None:
    verifier.verify(GOOD)
    issuer.document = b'{"keys": []}'
    issuer.now += 3601
    with pytest.raises(InvalidToken):
        verifier.verify(GOOD)


def test_while_the_issuer_is_down_what_was_known_still_holds(verifier: JwtVerifier, issuer: Issuer) -> None:
    verifier.verify(GOOD)
    issuer.down = True
    issuer.now += 5000
    verifier.verify(GOOD)
    verifier.verify(GOOD)
    assert len(issuer.asked) == 2
    with pytest.raises(Unavailable):  # it may have such a key by now
        verifier.verify(signed(claims(), {"alg": "RS256", "kid": "new"}))


def test_what_was_known_holds_for_a_day_without_the_issuer_and_no_longer(
    verifier: JwtVerifier, issuer: Issuer
) -> None:
    verifier.verify(GOOD)
    fetched = issuer.now
    issuer.down = True
    for hour in range(1, 25):
        issuer.now = fetched + hour * 3600
        verifier.verify(GOOD)
    issuer.now = fetched + 86_401
    for _ in range(2):
        with pytest.raises(Unavailable):  # not refused: the issuer may well have the key
            verifier.verify(GOOD)
    issuer.down = False
    issuer.now += 60
    verifier.verify(GOOD)


def test_before_the_first_keys_nobody_is_refused(verifier: JwtVerifier, issuer: Issuer) -> None:
    issuer.down = True
    for number in range(60):
        for token in (GOOD, signed(claims(), {"alg": "RS256", "kid": f"made-up-{number}"})):
            with pytest.raises(Unavailable):
                verifier.verify(token)
        issuer.now += 1
    assert len(issuer.asked) == 1  # a minute apart, as later
    issuer.down = False
    verifier.verify(GOOD)


@pytest.mark.parametrize(
    "document", [b"", b"<html>", b"[]", b"{}", b'{"keys": {}}', b'{"keys": null}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_set_of_keys_counts_as_no_answer(issuer: Issuer, document: bytes) -> None:
    issuer.document = document
    with pytest.raises(Unavailable):
        verifier_of(issuer).verify(GOOD)


@pytest.mark.parametrize(
    "changes",
    [
        {"JWT_ISSUER": "a b"},
        {"JWT_ISSUER": "é"},
        {"JWT_AUDIENCE": ""},
        {"JWT_JWKS_URL": ""},
        {"JWT_JWKS_URL": "http://id.example.com/jwks.json"},
        {"JWT_JWKS_URL": "http://localhost.evil.example/"},
        {"JWT_JWKS_URL": "file:///etc/passwd"},
        {"JWT_ROLE_CLAIM": ""},
        {"JWT_QUEUES_CLAIM": ""},
        {"JWT_MAX_PRIORITY_CLAIM": ""},
    ],
)
def test_half_of_the_settings_is_an_error(changes: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings, match=next(iter(changes))):
        JwtSettings.from_env(ENVIRONMENT | changes)


Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/jwks.json"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answer_with(status: int, body: bytes, **headers: str) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def test_keys_come_over_http(serve: Callable[[Answer], str]) -> None:
    url = serve(answer_with(200, json.dumps(JWKS).encode()))
    settings = JwtSettings.from_env(ENVIRONMENT | {"JWT_JWKS_URL": url})
    assert JwtVerifier(settings, KeySet(url)).verify(GOOD).id == f"jwt:{ISSUER}#user-1"


def test_redirects_errors_and_endless_answers_are_no_keys(serve: Callable[[Answer], str]) -> None:
    good = serve(answer_with(200, json.dumps(JWKS).encode()))
    for answer in (
        answer_with(302, b"", Location=good),
        answer_with(301, b"", Location="file:///etc/passwd"),
        answer_with(404, json.dumps(JWKS).encode()),
        answer_with(500, b""),
        answer_with(200, b" " * (MAX_BYTES + 1)),
    ):
        with pytest.raises(OSError, match=r"HTTP Error|too long"):
            fetch_url(serve(answer))
