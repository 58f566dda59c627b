"""An issuer of JSON Web Tokens, and tokens of every kind."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from jobqueue.tokens.jwks import KeySet
from jobqueue.tokens.jwts import JwtSettings, JwtVerifier

ISSUER = "https://id.example.com/"
ENVIRONMENT = {
    "JWT_ISSUER": ISSUER,
    "JWT_AUDIENCE": "jobqueue",
    "JWT_JWKS_URL": "https://id.example.com/jwks.json",
    "JWT_ROLE_CLAIM": "https://example.com/role",
    "JWT_QUEUES_CLAIM": "queues",
    "JWT_MAX_PRIORITY_CLAIM": "max_priority",
}
RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
P384_KEY = ec.generate_private_key(ec.SECP384R1())
HMAC_SECRET = b"0123456789abcdef0123456789abcdef"


def public(key: Any, **members: Any) -> dict[str, Any]:
    algorithm: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), **members}


JWKS: dict[str, Any] = {
    "keys": [
        public(RSA_KEY, kid="rsa", use="sig", alg="RS256"),
        public(EC_KEY, kid="ec", use="sig"),
        public(P384_KEY, kid="p384", use="sig"),
        public(OTHER_RSA_KEY, kid="encrypts", use="enc"),
        public(OTHER_RSA_KEY, kid="rs512", alg="RS512"),
        {"kty": "oct", "kid": "oct", "k": base64.urlsafe_b64encode(HMAC_SECRET).decode()},
        {"kty": "RSA", "kid": "broken", "n": "AQAB", "e": "!"},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        "no key at all",
    ]
}


def claims(**changes: Any) -> dict[str, Any]:
    """Return good claims, with `changes`; what is changed to ... is left out."""
    good = {
        "iss": ISSUER,
        "aud": "jobqueue",
        "sub": "user-1",
        "exp": int(time.time()) + 86_400,  # good until the last test has run
        "https://example.com/role": "producer",
        "queues": ["mail", "web"],
        "max_priority": "high",
    }
    return {name: value for name, value in (good | changes).items() if value is not ...}


def encoded(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(payload: Any, header: Any = None, key: Any = RSA_KEY) -> str:
    """Sign as RS256, whatever the header and the payload are: PyJWT would not make most of these."""
    header = {"alg": "RS256", "kid": "rsa"} if header is None else header
    message = f"{encoded(header)}.{encoded(payload)}"
    algorithm = RSAAlgorithm(RSAAlgorithm.SHA256)
    return f"{message}.{encoded(algorithm.sign(message.encode(), key))}"


class Issuer:
    """What publishes the keys, and counts how often it is asked."""

    def __init__(self) -> None:
        self.document = json.dumps(JWKS).encode()
        self.down = False
        self.asked: list[str] = []
        self.now = 1000.0

    def fetch(self, url: str) -> bytes:
        self.asked.append(url)
        if self.down:
            raise OSError("down")
        return self.document

    def clock(self) -> float:
        return self.now


def verifier_of(issuer: Issuer) -> JwtVerifier:
    settings = JwtSettings.from_env(ENVIRONMENT)
    return JwtVerifier(settings, KeySet(settings.jwks_url, issuer.fetch, issuer.clock))
