"""A stack that takes the JSON Web Tokens of an issuer: its good ones, as far as they go, and no others."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from local.curl import QUEUE
from tests.e2e.jobs import email
from tests.e2e.running import Stack
from tests.support.issuer import EC_KEY, ISSUER, OTHER_RSA_KEY, RSA_KEY, claims, encoded, signed
from tests.support.receiver import Receiver

ROLE = "https://example.com/role"
KEYS: dict[str, tuple[Any, str]] = {"RS256": (RSA_KEY, "rsa"), "ES256": (EC_KEY, "ec")}
BY_ALGORITHM = pytest.mark.parametrize("algorithm", KEYS)


def token(algorithm: str, role: str, **changes: Any) -> str:
    """Return a good token of somebody who is granted one queue and priorities up to high."""
    told = {"sub": f"{algorithm}-{role}", ROLE: role, "queues": [QUEUE], "max_priority": "high", **changes}
    key, kid = KEYS[algorithm]
    return jwt.encode(claims(**told), key, algorithm=algorithm, headers={"kid": kid})


def problem(answer: Any) -> str:
    return str(answer.json()["type"]).rpartition(":")[2]


@BY_ALGORITHM
def test_each_role_works_by_its_token_and_as_its_bearer(guarded: Stack, algorithm: str) -> None:
    producer, worker, admin = (token(algorithm, role) for role in ("producer", "worker", "admin"))

    made = guarded.call_as(producer, "POST", "/jobs", email(priority="high"))
    assert made.status_code == 201, made.text
    path = f"/jobs/{made.json()['id']}"
    taken = guarded.call_as(worker, "POST", "/jobs/claim", {"queues": [QUEUE]})
    assert taken.status_code == 200, taken.text
    assert taken.json()["worker_id"] == f"jwt:{ISSUER}#{algorithm}-worker"
    held = {"lease_token": taken.json()["lease_token"]}
    assert guarded.call_as(worker, "POST", f"{path}/complete", held).status_code == 200
    seen = guarded.call_as(admin, "GET", path)
    assert seen.json()["created_by"] == f"jwt:{ISSUER}#{algorithm}-producer"
    assert seen.json()["status"] == "completed"


@BY_ALGORITHM
def test_a_token_gives_its_role_its_queues_and_its_priority_and_no_more(
    guarded: Stack, algorithm: str
) -> None:
    producer, worker, admin = (token(algorithm, role) for role in ("producer", "worker", "admin"))
    humble = token(algorithm, "producer", max_priority="low")
    refused = [
        (producer, "/jobs/claim", {}, "role-not-allowed"),
        (worker, "/jobs", email(), "role-not-allowed"),
        (admin, "/jobs/claim", {}, "role-not-allowed"),
        (producer, "/jobs", email(queue="default"), "queue-not-allowed"),
        (worker, "/jobs/claim", {"queues": ["default"]}, "queue-not-allowed"),
        (producer, "/jobs", email(priority="critical"), "priority-not-allowed"),
        (humble, "/jobs", email(priority="medium"), "priority-not-allowed"),
    ]
    for bearer, path, body, name in refused:
        answer = guarded.call_as(bearer, "POST", path, body)
        assert (answer.status_code, problem(answer)) == (403, name), answer.text
    overview = guarded.call_as(admin, "GET", "/queues").json()["queues"]
    assert [queue["name"] for queue in overview] == [QUEUE]


def signed_with_the_public_key() -> str:
    """Return what a verifier takes that lets the token choose between a key pair and a shared secret."""
    shared = RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    message = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(claims())}"
    return f"{message}.{encoded(hmac.digest(shared, message.encode(), hashlib.sha256))}"


def forged(case: str, evil: str) -> str:
    """Return a token that is not the issuer's, not for this deployment, or not for now."""
    good, now = claims(), int(time.time())
    unsigned = f"{encoded({'alg': 'none', 'kid': 'rsa'})}.{encoded(good)}"
    made: dict[str, Callable[[], str]] = {
        "expired": lambda: signed(claims(exp=now - 120)),
        "never expires": lambda: signed(claims(exp=...)),
        "of another audience": lambda: signed(claims(aud="other")),
        "of another issuer": lambda: signed(claims(iss="https://id.example.org/")),
        "not valid yet": lambda: signed(claims(nbf=now + 120)),
        "of no role": lambda: signed(claims(**{ROLE: ...})),
        "of no algorithm": lambda: f"{unsigned}.",
        "of no algorithm with a signature": lambda: f"{unsigned}.AAAA",
        "of the public key as a secret": signed_with_the_public_key,
        "of an unknown key": lambda: signed(good, {"alg": "RS256", "kid": "made-up"}, OTHER_RSA_KEY),
        "of another key under a known name": lambda: signed(good, key=OTHER_RSA_KEY),
        "of another curve": lambda: signed(good, {"alg": "ES384", "kid": "p384"}),
        "of a key where it says": lambda: signed(
            good, {"alg": "RS256", "kid": "evil", "jku": evil, "x5u": evil}, OTHER_RSA_KEY
        ),
        "changed afterwards": lambda: signed(good).replace(encoded(good), encoded({**good, ROLE: "admin"})),
        "two parts": lambda: unsigned,
        "huge": lambda: signed(claims(more="x" * 6000)),
    }
    return made[case]()


CASES = [
    *("expired", "never expires", "of another audience", "of another issuer", "not valid yet", "of no role"),
    *("of no algorithm", "of no algorithm with a signature", "of the public key as a secret"),
    *("of an unknown key", "of another key under a known name", "of another curve", "of a key where it says"),
    *("changed afterwards", "two parts", "huge"),
]


@pytest.mark.parametrize("case", CASES)
def test_a_token_that_is_no_good_is_refused(guarded: Stack, issuer: Receiver, case: str) -> None:
    answer = guarded.call_as(forged(case, issuer.url(path="/evil")), "GET", "/jobs")

    assert answer.status_code == 403, answer.text
    assert answer.json() == {"message": "Forbidden"}
    assert {request.path for request in issuer.received} == {"/jwks.json"}


def test_a_token_is_nobody_where_none_are_taken(stack: Stack) -> None:
    assert stack.call_as(token("RS256", "admin"), "GET", "/jobs").status_code == 403
