"""Sends one HTTP request to an address that was checked, and follows nobody anywhere else."""

from __future__ import annotations

import http.client
import logging
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from jobqueue.webhooks.addresses import Address
from jobqueue.webhooks.message import Target
from jobqueue.webhooks.refusals import NotDelivered

# It would tell the whole URL of a receiver whose headers are not well-formed.
logging.getLogger("urllib3.connection").disabled = True

_READ_AT_MOST = 16_384
"""Bytes of an answer's body: enough for a receiver to finish writing it. They are thrown away."""

_MOST_ADDRESSES = 4
_CUT_OFF_EACH = 0.1
_FAILURES = (HTTPError, http.client.HTTPException, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a receiver may take, in seconds.

    Attributes
    ----------
    connect : float
        To accept a connection, and each step of the TLS handshake.
    read : float
        Between two parts of an answer.
    whole : float
        For everything: one that sends a byte now and then would hold a worker for ever.
    """

    connect: float = 3.0
    read: float = 10.0
    whole: float = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a receiver answered."""

    status: int
    retry_after: str | None


def send(
    target: Target,
    addresses: Sequence[Address],
    *,
    method: str,
    headers: Mapping[str, str],
    body: bytes,
    patience: Patience,
) -> Answer:
    """Send a request and return the answer. A redirect is an answer like any other.

    Parameters
    ----------
    target : Target
        Where to, by name: for the certificate and the Host header.
    addresses : sequence of address
        Where to connect, one after another until one accepts; they must have been checked.
    method, headers, body
        What to send.
    patience : Patience
        How long to wait.

    Raises
    ------
    NotDelivered
        If no answer came. What was sent may have arrived.
    """
    try:
        with _Deadline(patience.whole) as deadline:
            connection = _connect(target, addresses[:_MOST_ADDRESSES], patience, deadline)
            connection.request(method, target.path, body=body or None, headers=headers, preload_content=False)
            response = connection.getresponse()
            deadline.check()  # to have been cut off looks like an end, also in the middle of the headers
            answer = Answer(status=response.status, retry_after=response.headers.get("retry-after"))
            with suppress(*_FAILURES):
                response.read(_READ_AT_MOST, decode_content=False)
            return answer
    except _FAILURES as error:
        # neither the URL nor the address is told: a path can hold a secret, a name lead inside
        raise NotDelivered(f"No answer came ({type(error).__name__}).") from None


class _Deadline:
    """Ends a connection when the time is over, whatever it is waiting for then."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._done = threading.Event()
        self._is_over = False
        self._connection: HTTPConnection | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="webhook deadline", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._connection is not None:
            self._connection.close()

    def cover(self, connection: HTTPConnection) -> None:
        """Watch this connection, and no longer the one before."""
        self._connection = connection

    def check(self) -> None:
        """Raise `TimeoutError` if the time is over."""
        if self._is_over:
            raise TimeoutError

    def _watch(self) -> None:
        if self._done.wait(self._seconds):
            return
        self._is_over = True
        # again and again: a connection that is only being made has nothing yet to be cut off
        while not self._done.wait(_CUT_OFF_EACH):
            if self._connection is not None and self._connection.sock is not None:
                _cut_off(self._connection.sock)


def _connect(
    target: Target, addresses: Sequence[Address], patience: Patience, deadline: _Deadline
) -> HTTPConnection:
    failure: Exception = HTTPError()
    for address in addresses:
        connection = _connection(target, address, patience.connect)
        deadline.cover(connection)
        try:
            connection.connect()
        except _FAILURES as error:
            failure = error
            connection.close()
            continue
        connection.timeout = patience.read
        return connection
    raise failure


def _connection(target: Target, address: Address, timeout: float) -> HTTPConnection:
    if not target.is_secure:
        return HTTPConnection(str(address), target.port, timeout=timeout)
    return HTTPSConnection(
        str(address),
        target.port,
        timeout=timeout,
        server_hostname=target.host.rstrip(
            "."
        ),  # what the certificate must be for, though an address is connected to
        ssl_context=_trust(),
    )


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def _cut_off(sock: socket.socket) -> None:
    """End a connection from another thread: whoever waits for it sees it end."""
    with suppress(OSError):
        # the method of the plain socket: that of a TLS socket would take itself apart under its reader
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
