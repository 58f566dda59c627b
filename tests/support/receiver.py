"""A receiver of webhooks on this machine, which answers as a test says."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Receiver:
    """What a receiver answers, and what it was sent.

    Attributes
    ----------
    port : int
        Where it listens, on 127.0.0.1.
    status : int
        What it answers.
    headers : dict
        More headers of its answer.
    received : list
        The requests so far, their headers by lower-case name.
    """

    port: int
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"thank you"
    received: list[Received] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", path: str = "/hook", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver, over TLS with a `context`."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(self.command, self.path, headers, body))
            self.send_response(receiver.status)
            for name, value in {"content-length": str(len(receiver.body)), **receiver.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)

        def log_message(self, *_: Any) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(server.server_address[1])
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving(converse: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a server whose every connection is `converse`'s, and tell its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_converse, args=(connection, converse), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _converse(connection: socket.socket, converse: Callable[[socket.socket], None]) -> None:
    with connection:
        try:
            converse(connection)
        except OSError:
            return
