"""Turns the credential of a request into who is calling, for the gateway to pass on.

It decides identity and nothing else, so its answer holds on every route and may be remembered by the
gateway; what a caller may do, each function checks itself. The gateway remembers a refusal too, so a
refusal must be about the credential: when DynamoDB does not answer, the error rises, and the gateway
answers 500 without remembering anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobqueue import telemetry
from jobqueue.errors import CorruptKey, Unauthenticated, Unavailable
from jobqueue.job import Clock, utc_now
from jobqueue.keys import KeysTable, KeyState, hash_key, is_key, open_keys_table
from jobqueue.principal import Principal
from jobqueue.tokens import bearer_token

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from jobqueue.tokens.jwts import JwtVerifier

ACTION = "authorize_request"

_CONNECT_SECONDS = 1.0
_READ_SECONDS = 1.5
_ATTEMPTS = 3
"""Three attempts, waits included, end before the gateway gives up on an authorizer, after 10 s."""


class Authorizer:
    """Answers the gateway's question who is calling.

    Parameters
    ----------
    keys : KeysTable
        The API keys.
    clock : Clock
        Tells the time.
    jwts : JwtVerifier or None
        Verifies JSON Web Tokens; None where they are off.
    """

    def __init__(self, keys: KeysTable, clock: Clock = utc_now, *, jwts: JwtVerifier | None = None) -> None:
        self._keys = keys
        self._clock = clock
        self._jwts = jwts

    def answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Answer an authorizer's event, payload version 2.0, in the simple form.

        Returns
        -------
        dict
            ``{"isAuthorized": bool, "context": {...}}``; the context is all strings, and empty when the
            credential is refused.

        Raises
        ------
        Unavailable
            If the keys cannot be had.
        """
        telemetry.begin(request_id=_request_id(event))
        try:
            principal = self._authenticate(event)
        except Unauthenticated as refusal:
            telemetry.decision(ACTION, str(refusal))
            return {"isAuthorized": False, "context": {}}
        except Unavailable:
            telemetry.decision(ACTION, "unavailable")
            raise
        telemetry.identify(principal.id)
        telemetry.decision(ACTION, "ok")
        return {"isAuthorized": True, "context": context(principal)}

    def _authenticate(self, event: Mapping[str, Any]) -> Principal:
        token = bearer_token(event)
        if token is None:
            raise Unauthenticated("no-bearer-token")
        if is_key(token):
            return self._key_principal(token)
        if self._jwts is None:
            raise Unauthenticated("unknown-kind")
        return self._jwts.verify(token)

    def _key_principal(self, token: str) -> Principal:
        try:
            key = self._keys.get(hash_key(token))
        except CorruptKey:
            raise Unauthenticated("corrupt-key") from None
        if key is None:
            raise Unauthenticated("unknown-key")
        # Whoever shows a key had it once, so the log may tell whose it was.
        telemetry.identify(key.principal.id)
        state = key.state(self._clock())
        if state is not KeyState.ACTIVE:
            raise Unauthenticated(f"{state.value}-key")
        return key.principal


def context(principal: Principal) -> dict[str, str]:
    """Write a caller as the gateway hands it to the functions: strings only."""
    return {
        "principal": principal.id,
        "role": principal.role.value,
        "queues": ",".join(sorted(principal.queues)),
        "max_priority": principal.max_priority.value,
    }


def open_authorizer(*, client: DynamoDBClient | None = None, clock: Clock = utc_now) -> Authorizer:
    """Make the authorizer of a deployment.

    Its keys are in the table ``API_KEYS_TABLE``. It takes JSON Web Tokens as well where ``JWT_ISSUER`` is
    set; see `JwtSettings`.

    Raises
    ------
    InvalidSettings
        If the environment names no table, or only half of what tokens need.
    """
    keys = open_keys_table(client or _impatient_client())
    return Authorizer(keys, clock, jwts=_open_jwts())


def _open_jwts() -> JwtVerifier | None:
    if not os.environ.get("JWT_ISSUER"):
        return None
    from jobqueue.tokens.jwks import KeySet
    from jobqueue.tokens.jwts import JwtSettings, JwtVerifier

    settings = JwtSettings.from_env(os.environ)
    return JwtVerifier(settings, KeySet(settings.jwks_url))


def _impatient_client() -> DynamoDBClient:
    import boto3
    from botocore.config import Config

    return boto3.client(
        "dynamodb",
        config=Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        ),
    )


def _request_id(event: Mapping[str, Any]) -> str | None:
    about = event.get("requestContext")
    found = about.get("requestId") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) else None
