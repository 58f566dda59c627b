"""The keys of the issuer of JSON Web Tokens: fetched from where the deployer said, and kept.

No token steers a fetch: ``jku``, ``x5u`` and ``jwk`` in its header mean nothing. An unknown key id makes
the keys be looked up again, at most once a minute however many strangers make one up.

A key that the issuer takes back is good for nothing after an hour. Only while the issuer's keys cannot be
had do those that were had before still hold, for a day.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from itertools import product
from typing import Any

import jwt

from jobqueue.errors import InvalidToken, Unavailable

ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
"""The algorithms that are accepted, and the type of key of each. All need a private key to sign."""

FRESH_SECONDS = 3600
"""How old keys may be before they are looked up again; so long may one that was taken back still be used."""
HELD_SECONDS = 24 * 3600
"""How long keys are used while they cannot be looked up again."""
PAUSE_SECONDS = 60
"""Between two tries to look up the keys, whether or not one ever succeeded."""

TIMEOUT_SECONDS = 3
MAX_BYTES = 256 * 1024

Fetch = Callable[[str], bytes]


class KeySet:
    """The issuer's keys, by their ids.

    Parameters
    ----------
    url : str
        Where the issuer publishes them.
    fetch : callable
        Returns what is at a URL, or raises OSError.
    clock : callable
        Seconds that only ever grow.
    """

    def __init__(
        self, url: str, fetch: Fetch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = url
        self._fetch = fetch or fetch_url
        self._clock = clock
        self._keys: dict[tuple[str, str], jwt.PyJWK] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None

    def get(self, key_id: str, algorithm: str) -> jwt.PyJWK:
        """Return the key that `key_id` names, for signatures by `algorithm`.

        Raises
        ------
        InvalidToken
            If the issuer has no such key.
        Unavailable
            If the issuer's keys cannot be had: then nobody knows whether it has.
        """
        found = self._keys.get((key_id, algorithm))
        if found is None or self._age() > FRESH_SECONDS:
            self._look_again()
            found = self._keys.get((key_id, algorithm))
        if found is not None and self._age() <= HELD_SECONDS:
            return found
        if self._fetched_at is None or self._fetched_at != self._tried_at:
            raise Unavailable
        raise InvalidToken("unknown-jwt-key")

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self._clock() - self._fetched_at

    def _look_again(self) -> None:
        """Replace the keys by what the issuer publishes now; where that cannot be had, they stay."""
        now = self._clock()
        if self._tried_at is not None and now - self._tried_at < PAUSE_SECONDS:
            return
        self._tried_at = now
        try:
            keys = read_keys(self._fetch(self._url))
        except (OSError, HTTPException, ValueError, RecursionError):
            return
        self._keys, self._fetched_at = keys, now


def read_keys(document: bytes) -> dict[tuple[str, str], jwt.PyJWK]:
    """Read a JWK Set (RFC 7517): its signing keys, by id and algorithm. What else it holds is passed over.

    Raises
    ------
    ValueError
        If it is none.
    """
    match json.loads(document):
        case {"keys": list(keys)}:
            pass
        case _:
            raise ValueError("not a JWK Set")
    usable: dict[tuple[str, str], jwt.PyJWK] = {}
    for key, (algorithm, key_type) in product(keys, ALGORITHMS.items()):
        if isinstance(key, dict) and _is_for(key, algorithm, key_type):
            with suppress(jwt.PyJWTError, ValueError, TypeError):
                usable[key["kid"], algorithm] = jwt.PyJWK(key, algorithm)
    return usable


def fetch_url(url: str) -> bytes:
    """Return what is at `url`. Follows no redirect: the deployer said where the keys are.

    Raises
    ------
    OSError
        If nothing is, or not in time, or too much.
    """
    opener = urllib.request.build_opener(_NoRedirect)
    with opener.open(url, timeout=TIMEOUT_SECONDS) as answer:
        document: bytes = answer.read(MAX_BYTES + 1)
    if len(document) > MAX_BYTES:
        raise OSError("too long for a JWK Set")
    return document


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Leave a redirect what it is: an answer that is no document."""


def _is_for(key: Mapping[str, Any], algorithm: str, key_type: str) -> bool:
    return (
        isinstance(key.get("kid"), str)
        and key.get("kty") == key_type
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (key_type != "EC" or key.get("crv") == "P-256")
        and "d" not in key  # a private key in public is nobody's key any more
    )
