"""JSON Web Tokens: who their bearer is, by the word of the one issuer that the deployment trusts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from jobqueue.errors import InvalidSettings, InvalidToken
from jobqueue.job import JobPriority
from jobqueue.principal import Principal, Role, is_grant
from jobqueue.settings import text
from jobqueue.tokens.jwks import ALGORITHMS, KeySet

LEEWAY_SECONDS = 60

_JWT = re.compile(r"[A-Za-z0-9_-]{1,2048}\.[A-Za-z0-9_-]{1,6144}\.[A-Za-z0-9_-]{1,1024}")
_ISSUER = re.compile(r"[!-~]{1,512}")
_SUBJECT = re.compile(r"[!-~]{1,255}")
_REQUIRED = ("exp", "iss", "aud", "sub")


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtSettings:
    """What a deployment trusts.

    Attributes
    ----------
    issuer : str
        ``JWT_ISSUER``: the one ``iss`` that is accepted. 1 to 512 visible ASCII characters.
    audience : str
        ``JWT_AUDIENCE``: the ``aud`` that a token must name.
    jwks_url : str
        ``JWT_JWKS_URL``: where the issuer publishes its keys; https, or http on this machine.
    role_claim, queues_claim, max_priority_claim : str
        ``JWT_ROLE_CLAIM``, ``JWT_QUEUES_CLAIM``, ``JWT_MAX_PRIORITY_CLAIM``: the claims that tell what
        the bearer may do. A token that lacks one of them is refused.
    """

    issuer: str
    audience: str
    jwks_url: str
    role_claim: str
    queues_claim: str
    max_priority_claim: str

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> JwtSettings:
        """Read the settings.

        Raises
        ------
        InvalidSettings
            If one is missing or not usable.
        """
        issuer = text(environ, "JWT_ISSUER")
        if not _ISSUER.fullmatch(issuer):
            raise InvalidSettings("JWT_ISSUER must be 1 to 512 visible ASCII characters")
        url = text(environ, "JWT_JWKS_URL")
        if not re.match(r"https://|http://(?:localhost|127\.0\.0\.1)[:/]", url):
            raise InvalidSettings("JWT_JWKS_URL must begin with https://")
        return cls(
            issuer=issuer,
            audience=text(environ, "JWT_AUDIENCE"),
            jwks_url=url,
            role_claim=text(environ, "JWT_ROLE_CLAIM"),
            queues_claim=text(environ, "JWT_QUEUES_CLAIM"),
            max_priority_claim=text(environ, "JWT_MAX_PRIORITY_CLAIM"),
        )


class JwtVerifier:
    """Tells the bearer of a token.

    Parameters
    ----------
    settings : JwtSettings
        What is trusted.
    keys : KeySet
        The issuer's keys.
    """

    def __init__(self, settings: JwtSettings, keys: KeySet) -> None:
        self._settings = settings
        self._keys = keys

    def verify(self, token: str) -> Principal:
        """Return who the bearer of `token` is.

        Raises
        ------
        InvalidToken
            If the token is not one of the issuer's for this deployment and this time, or does not say
            what its bearer may do.
        Unavailable
            If the issuer's keys cannot be had.
        """
        if not _JWT.fullmatch(token):
            raise InvalidToken("malformed-jwt")
        claims = self._claims(token)
        try:
            return Principal(
                id=f"jwt:{self._settings.issuer}#{_subject(claims)}",
                role=Role(_string(claims, self._settings.role_claim)),
                queues=_queues(claims.get(self._settings.queues_claim)),
                max_priority=JobPriority(_string(claims, self._settings.max_priority_claim)),
            )
        except ValueError:  # of the enums and of what is below
            raise InvalidToken("ungranted-jwt") from None

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key_id = header.get("alg"), header.get("kid")
            if algorithm not in ALGORITHMS or not isinstance(key_id, str):
                raise InvalidToken("malformed-jwt")
            claims: dict[str, Any] = jwt.decode(
                token,
                key=self._keys.get(key_id, algorithm),
                algorithms=[algorithm],
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": list(_REQUIRED), "enforce_minimum_key_length": True},
            )
            if not all(_is_time(claims[name]) for name in ("exp", "nbf", "iat") if name in claims):
                raise InvalidToken("invalid-jwt")
        except jwt.ExpiredSignatureError:
            raise InvalidToken("expired-jwt") from None
        # PyJWT reads what a stranger wrote: nested too deep, numbers too large, an `alg` that is a list
        except (jwt.PyJWTError, ArithmeticError, RecursionError, TypeError, ValueError):
            raise InvalidToken("invalid-jwt") from None
        return claims


def _is_time(value: object) -> bool:
    """Tell a NumericDate of RFC 7519 from what PyJWT takes for one as well, such as ``"1e9"`` or true."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _string(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim that is a string; any other is as good as none."""
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _subject(claims: Mapping[str, Any]) -> str:
    subject = _string(claims, "sub")
    if not _SUBJECT.fullmatch(subject):
        raise ValueError
    return subject


def _queues(value: object) -> frozenset[str]:
    """Read a grant: a list of names, or the names in one string, apart by commas or spaces."""
    names = re.split(r"[ ,]+", value.strip(" ")) if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError
    queues = frozenset(names)
    if not is_grant(queues):
        raise ValueError
    return queues
