"""One webhook from end to end: checked, signed and sent."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jobqueue.errors import InvalidSettings
from jobqueue.job import Clock, utc_now
from jobqueue.webhooks.addresses import Resolve, checked_addresses
from jobqueue.webhooks.message import Target, all_headers, body_of
from jobqueue.webhooks.retry_after import retry_after
from jobqueue.webhooks.secret import MasterSecret
from jobqueue.webhooks.sending import Patience, send
from jobqueue.webhooks.signing import host_key, signature_headers

MOST_RETRY_AFTER_SECONDS = 604_800
_ALLOW_LOOPBACK = "WEBHOOK_ALLOW_LOOPBACK"
_SWITCH = {"": False, "false": False, "true": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """What is to be sent.

    Attributes
    ----------
    id : str
        The same for every attempt.
    url, method : str
        Where to and how.
    headers : mapping
        More headers.
    body : JSON value
        A string is sent as it is, None as nothing, all else as JSON.
    """

    id: str
    url: str
    method: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the receiver answered.

    Attributes
    ----------
    status : int
        The HTTP status.
    retry_after_seconds : float or None
        When to try again, if it said so; at most seven days.
    """

    status: int
    retry_after_seconds: float | None


class Secret(Protocol):
    """Where the master secret comes from."""

    def read(self) -> bytes:
        """Return it."""


class WebhookSender:
    """Sends webhooks.

    Parameters
    ----------
    secret : MasterSecret
        What they are signed with.
    allow_loopback : bool
        Whether this machine may be a receiver: for tests.
    clock : Clock
        The time.
    resolve : callable
        As `socket.getaddrinfo`.
    patience : Patience
        How long a receiver may take.
    """

    def __init__(
        self,
        secret: Secret,
        *,
        allow_loopback: bool = False,
        clock: Clock = utc_now,
        resolve: Resolve = socket.getaddrinfo,
        patience: Patience | None = None,
    ) -> None:
        self._secret = secret
        self.allows_loopback = allow_loopback
        self._clock = clock
        self._resolve = resolve
        self._patience = patience or Patience()

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> WebhookSender:
        """Make the sender of the deployment: ``WEBHOOK_SECRET_ARN``, ``WEBHOOK_ALLOW_LOOPBACK``.

        Raises
        ------
        InvalidSettings
            If the environment is not usable.
        """
        env = os.environ if environ is None else environ
        switch = env.get(_ALLOW_LOOPBACK, "")
        if switch not in _SWITCH:
            raise InvalidSettings(f"{_ALLOW_LOOPBACK} must be true or false")
        return cls(MasterSecret.from_env(env), allow_loopback=_SWITCH[switch])

    def send(self, webhook: Webhook) -> Answered:
        """Send a webhook and return the answer, whatever it is.

        Raises
        ------
        WebhookNotAllowed
            If it must not be sent: where it goes, or a header of it.
        NotDelivered
            If no answer came; it may have arrived.
        """
        target = Target.of(webhook.url)
        body, kind = body_of(webhook.body)
        signature = signature_headers(
            host_key(self._secret.read(), target.host),
            message_id=webhook.id,
            sent_at=self._clock(),
            body=body,
        )
        headers = all_headers(webhook.headers, kind | signature, target)
        addresses = checked_addresses(
            target.host, target.port, allow_loopback=self.allows_loopback, resolve=self._resolve
        )
        answer = send(
            target, addresses, method=webhook.method, headers=headers, body=body, patience=self._patience
        )
        wait = retry_after(answer.retry_after, self._clock(), most=MOST_RETRY_AFTER_SECONDS)
        return Answered(status=answer.status, retry_after_seconds=wait)
