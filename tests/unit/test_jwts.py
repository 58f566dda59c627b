"""JSON Web Tokens: the issuer's are taken, everybody else's are refused, and none is an exception."""

from __future__ import annotations

import hashlib
import hmac
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.errors import InvalidToken
from jobqueue.job import JobPriority
from jobqueue.principal import Principal, Role
from jobqueue.tokens.jwts import JwtVerifier
from tests.support.issuer import (
    EC_KEY,
    ENVIRONMENT,
    HMAC_SECRET,
    ISSUER,
    OTHER_RSA_KEY,
    RSA_KEY,
    Issuer,
    claims,
    encoded,
    public,
    signed,
    verifier_of,
)


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def verifier(issuer: Issuer) -> JwtVerifier:
    return verifier_of(issuer)


@pytest.mark.parametrize(("algorithm", "key", "kid"), [("RS256", RSA_KEY, "rsa"), ("ES256", EC_KEY, "ec")])
def test_a_token_of_the_issuer_says_who_is_calling(
    verifier: JwtVerifier, algorithm: str, key: Any, kid: str
) -> None:
    token = jwt.encode(claims(), key, algorithm=algorithm, headers={"kid": kid})
    assert verifier.verify(token) == Principal(
        id="jwt:https://id.example.com/#user-1",
        role=Role.PRODUCER,
        queues=frozenset({"mail", "web"}),
        max_priority=JobPriority.HIGH,
    )


@dataclass(frozen=True)
class FromNow:
    """A time in a claim, told from when the test runs: the tests are collected long before."""

    seconds: float


def at(now: float, changes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: now + value.seconds if isinstance(value, FromNow) else value for name, value in changes.items()
    }


@pytest.mark.parametrize(
    ("changes", "queues"),
    [
        ({"queues": "*"}, {"*"}),
        ({"queues": ["*"]}, {"*"}),
        ({"queues": "mail web"}, {"mail", "web"}),
        ({"queues": " mail, web "}, {"mail", "web"}),
        ({"aud": ["other", "jobqueue"]}, {"mail", "web"}),
        ({"exp": FromNow(60.5)}, {"mail", "web"}),
        ({"exp": FromNow(-30)}, {"mail", "web"}),
        ({"nbf": FromNow(30)}, {"mail", "web"}),
        ({"iat": FromNow(-30), "nbf": FromNow(-30)}, {"mail", "web"}),
        ({"jti": "x", "scope": "a b"}, {"mail", "web"}),
    ],
)
def test_what_else_a_good_token_may_say(
    verifier: JwtVerifier, changes: dict[str, Any], queues: set[str]
) -> None:
    assert verifier.verify(signed(claims(**at(time.time(), changes)))).queues == queues


PAST = FromNow(-120)
SOON = FromNow(120)
ODD: dict[str, list[Any]] = {
    "exp": [
        *(..., None, "", "9999999999", "soon", True, False, [], {}, -1, 0, PAST, "1e400"),
        *(float("inf"), float("-inf"), float("nan"), 10**400, -(10**400)),
    ],
    "nbf": [None, "0", True, [], {}, SOON, float("inf"), 10**400],
    "iat": [None, "0", True, [], {}, SOON, float("nan")],
    "iss": [..., None, "", ISSUER.rstrip("/"), ISSUER.upper(), [ISSUER], {}, 7],
    "aud": [..., None, "", "other", ["other"], [], {}, 7, ["jobqueue", 7], [["jobqueue"]]],
    "sub": [..., None, "", 7, [], "a b", "ü", "a\n", "\x00", "a" * 256],
    "https://example.com/role": [..., None, "", "root", "Producer", ["producer"], 1, True],
    "queues": [
        *(..., None, "", " ", [], {}, 7, ["*", "mail"], "* mail", ["Mail"], [["mail"]], [""]),
        *(["mail", None], ["mail,web"], ["a" * 65], {"mail": 1}, [" mail"]),
    ],
    "max_priority": [..., None, "", "urgent", "HIGH", 20, ["high"]],
}
REFUSED_CLAIMS = [{name: value} for name, values in ODD.items() for value in values]


@pytest.mark.parametrize("changes", REFUSED_CLAIMS, ids=lambda changes: str(changes)[:60])
def test_odd_claims_are_refused_though_the_signature_is_good(
    verifier: JwtVerifier, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidToken):
        verifier.verify(signed(claims(**at(time.time(), changes))))


@pytest.mark.parametrize(
    "payload",
    [b"", b"null", b"[]", b"7", b'"x"', b"{", b"\xff", b"[" * 4000, b'{"a":' * 900, b"9" * 5000, b"NaN"],
)
def test_a_payload_that_is_no_object_is_refused(verifier: JwtVerifier, payload: bytes) -> None:
    with pytest.raises(InvalidToken):
        verifier.verify(signed(payload))


PUBLIC_PEM = RSA_KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def hs256(secret: bytes, **header: Any) -> str:
    message = f"{encoded({'alg': 'HS256', 'typ': 'JWT', **header})}.{encoded(claims())}"
    return f"{message}.{encoded(hmac.new(secret, message.encode(), hashlib.sha256).digest())}"


def unsigned(**header: Any) -> str:
    return f"{encoded(header)}.{encoded(claims())}."


GOOD = signed(claims())
HEAD, BODY, SIGNATURE = GOOD.split(".")
ODD_ALGORITHMS: list[Any] = [
    *(None, "", 7, True, [], ["RS256"], {}),
    *("rs256", "RS512", "PS256", "ES384", "EdDSA", "HS512"),
]
ODD_KEY_IDS: list[Any] = [
    *(None, 7, True, [], {}, ""),
    *("../../dev/null", "/etc/passwd", "rsa\x00", "RSA", "x" * 900),
]
FORGED = {
    "HS256 signed with the public key": hs256(PUBLIC_PEM, kid="rsa"),
    "HS256 with a symmetric key of the set": hs256(HMAC_SECRET, kid="oct"),
    "RS256 said, HS256 done": hs256(PUBLIC_PEM, kid="rsa", alg="RS256"),
    "none": unsigned(alg="none", kid="rsa"),
    "none with a signature": unsigned(alg="none", kid="rsa") + SIGNATURE,
    "None": unsigned(alg="None", kid="rsa") + "x",
    "NONE": unsigned(alg="NONE", kid="rsa") + "x",
    "no alg": signed(claims(), {"kid": "rsa"}),
    **{f"alg {alg!r}": signed(claims(), {"alg": alg, "kid": "rsa"}) for alg in ODD_ALGORITHMS},
    "no kid": signed(claims(), {"alg": "RS256"}),
    **{f"kid {str(kid)[:30]!r}": signed(claims(), {"alg": "RS256", "kid": kid}) for kid in ODD_KEY_IDS},
    "kid of another type of key": signed(claims(), {"alg": "RS256", "kid": "ec"}),
    "alg of another type of key": signed(claims(), {"alg": "ES256", "kid": "rsa"}),
    "a key for encryption": signed(claims(), {"alg": "RS256", "kid": "encrypts"}, OTHER_RSA_KEY),
    "a key for another algorithm": signed(claims(), {"alg": "RS256", "kid": "rs512"}, OTHER_RSA_KEY),
    "a curve that is not ours": signed(claims(), {"alg": "ES256", "kid": "p384"}),
    "a broken key": signed(claims(), {"alg": "RS256", "kid": "broken"}),
    "another's key": signed(claims(), key=OTHER_RSA_KEY),
    "a key of its own": signed(
        claims(), {"alg": "RS256", "kid": "rsa", "jwk": public(OTHER_RSA_KEY)}, OTHER_RSA_KEY
    ),
    "a key at its own address": signed(
        claims(),
        {"alg": "RS256", "kid": "mine", "jku": "https://evil.example/jwks", "x5u": "https://evil.example/c"},
        OTHER_RSA_KEY,
    ),
    "a critical extension": signed(claims(), {"alg": "RS256", "kid": "rsa", "crit": ["exp"], "exp": 1}),
    "an odd critical extension": signed(claims(), {"alg": "RS256", "kid": "rsa", "crit": 7}),
    "a detached payload": signed(claims(), {"alg": "RS256", "kid": "rsa", "b64": False, "crit": ["b64"]}),
    "another payload": f"{HEAD}.{encoded(claims(sub='root'))}.{SIGNATURE}",
    "another header": f"{encoded({'alg': 'RS256', 'kid': 'rsa', 'x': 1})}.{BODY}.{SIGNATURE}",
    "no signature": f"{HEAD}.{BODY}.",
    "one dot short": f"{HEAD}.{BODY}",
    "two dots short": HEAD,
    "one part too many": f"{GOOD}.x",
    "five parts": f"{HEAD}.{BODY}.{BODY}.{BODY}.{SIGNATURE}",
    "only dots": "..",
    "empty": "",
    "padded": f"{GOOD}==",
    "spaces": f" {GOOD}",
    "a line end": f"{GOOD}\n",
    "not ASCII": f"{HEAD}é.{BODY}.{SIGNATURE}",
    "a surrogate": f"{HEAD}.{BODY}\ud83d.{SIGNATURE}",
    "a header that is no JSON": f"{encoded(b'{')}.{BODY}.{SIGNATURE}",
    "a header that is a list": f"{encoded([])}.{BODY}.{SIGNATURE}",
    "a header that is not UTF-8": f"{encoded(bytes([255]))}.{BODY}.{SIGNATURE}",
    "a header nested deep": f"{encoded(b'[' * 1500)}.{BODY}.{SIGNATURE}",
    "a header with a huge number": f"{encoded(b'9' * 1500)}.{BODY}.{SIGNATURE}",
    "a huge header": f"{'A' * 100_000}.{BODY}.{SIGNATURE}",
    "a huge payload": f"{HEAD}.{'A' * 1_000_000}.{SIGNATURE}",
    "a huge signature": f"{HEAD}.{BODY}.{'A' * 1_000_000}",
    "a cut signature": GOOD[:-4],
    "a short signature": f"{HEAD}.{BODY}.AA",
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_a_forged_token_is_refused(verifier: JwtVerifier, issuer: Issuer, token: str) -> None:
    with pytest.raises(InvalidToken):
        verifier.verify(token)
    assert set(issuer.asked) <= {ENVIRONMENT["JWT_JWKS_URL"]}


def test_the_good_token_that_the_forged_ones_are_made_of_is_good(verifier: JwtVerifier) -> None:
    assert verifier.verify(GOOD).id == f"jwt:{ISSUER}#user-1"


@given(st.text())
def test_any_text_is_refused(token: str) -> None:
    with pytest.raises(InvalidToken):
        verifier_of(Issuer()).verify(token)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([*claims()]), JSON)
def test_a_claim_of_any_shape_is_read_without_an_exception(name: str, value: Any) -> None:
    with suppress(InvalidToken):
        verifier_of(Issuer()).verify(signed(claims(**{name: value})))


@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "cty", "zip"]), JSON))
def test_a_header_of_any_shape_is_refused_without_an_exception(header: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        verifier_of(Issuer()).verify(signed(claims(), header))
