"""The API in memory behind a server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.client.fake_api import FakeApi


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: FakeApi) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.transport = api.transport()

    @classmethod
    @contextmanager
    def running(cls, api: FakeApi) -> Iterator[Server]:
        with cls(api) as server:
            thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
            thread.start()
            yield server
            server.shutdown()
            thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/live"


class Handler(BaseHTTPRequestHandler):
    """Passes requests on. A fault of the API in memory closes the connection without an answer."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        request = httpx.Request(self.command, self.server.url[: -len("/live")] + self.path, content=body)
        try:
            answer = self.server.transport.handle_request(request)
        except httpx.TransportError:
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "content-length" not in answer.headers and answer.status_code != 204:
            self.send_header("content-length", "0")
        self.end_headers()
        self.wfile.write(answer.read())

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
