"""A stack brought up for the tests, as `make up` does it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from local import state
from local.aws import Aws, connect
from local.child import Child
from local.paths import ROOT
from local.state import State
from tests.e2e.watch import Credentials

PATIENCE_SECONDS = 180
PER_SECOND = 1000
"""What each caller of the stack that limits them may send: more than any test does by itself."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack, how to call it, and the credentials that went over HTTP so far."""

    state: State
    credentials: Credentials
    http: httpx.Client

    @property
    def aws(self) -> Aws:
        """Clients of the emulator."""
        return connect(self.state.endpoint)

    def call(self, role: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Call the API with the key of a role."""
        return self.call_as(self.state.keys[role], method, path, body)

    def call_as(self, key: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Call the API with a key of your own."""
        return self.http.request(
            method, self.state.url + path, json=body, headers={"Authorization": f"Bearer {key}"}
        )


class Running:
    """A process of ``python -m local``, in a folder that must be empty when it is gone."""

    def __init__(self, folder: Path, port: int, arguments: Sequence[str] = ()) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.state_file = folder / "stack.json"
        self._child = Child(
            ["local", "--port", str(port), "--state", str(self.state_file), *arguments],
            environment=os.environ | {"TMPDIR": str(self.temporary)},
            folder=ROOT,
            output=folder / "output.txt",
        )

    @property
    def exit_code(self) -> int | None:
        """What it ended with, or None while it runs."""
        return self._child.exit_code

    def said(self) -> str:
        """Return what it has printed so far."""
        return self._child.said()

    def wait_until(self, happened: Callable[[], bool]) -> None:
        """Wait until something has happened, or fail with what was printed."""
        wait_until(lambda: self.exit_code is not None or happened())
        if not happened():
            raise AssertionError(f"it ended (exit {self.exit_code}) before it happened:\n{self.said()}")

    def end(self, number: signal.Signals = signal.SIGINT) -> int | None:
        """Send a signal to it, as a terminal does, and return the exit code."""
        os.kill(self._child.pid, number)
        self.wait_until(lambda: self.exit_code is not None)
        return self.exit_code

    def clean_up(self) -> None:
        """End it if it runs."""
        self._child.end()

    def kill_emulator(self) -> None:
        """Kill the emulator from outside."""
        os.killpg(state.read(self.state_file).emulator_pid, signal.SIGKILL)

    def leavings(self) -> list[str]:
        """Return what is left of it: processes that mention its folder, and files."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,command="], check=True, capture_output=True, text=True
        )
        mine = str(self.folder)
        processes = [line for line in listed.stdout.splitlines() if mine in line]
        files = [str(path) for path in self.temporary.rglob("*")]
        return processes + files + ([str(self.state_file)] if self.state_file.exists() else [])


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened; fail if it does not."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        if time.monotonic() > give_up:
            raise AssertionError("it did not happen")
        time.sleep(0.05)


@contextmanager
def running(folder: Path, arguments: Sequence[str] = ()) -> Iterator[Running]:
    """Start a stack on a free port, and see to its end whatever happens."""
    process = Running(folder, free_port(), arguments)
    try:
        yield process
    finally:
        process.clean_up()


def read_stack(path: Path) -> Stack:
    """Return the stack that wrote a state file."""
    found = state.read(path)
    credentials = Credentials(found.keys.values())
    return Stack(found, credentials, credentials.client())


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
