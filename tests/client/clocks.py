"""Clocks that move only when a test says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from jobqueue_client import Clock
from jobqueue_client.clock import Mailbox

T = TypeVar("T")

PATIENCE = 20.0
"""Real seconds after which a test that hangs fails. Nothing else depends on it."""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Return once `condition` holds; the test fails when it never does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.002)


class InstantClock(Clock):
    """Sleeping takes no time and moves the clock on. For code of one thread."""

    def __init__(self, wall: float = 1_900_000_000.0) -> None:
        self.now = 1_000.0
        self.start_of_wall = wall - self.now
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.start_of_wall + self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


class ManualClock(Clock):
    """Stands still until `advance`. For a worker's threads.

    `settle` tells when each of them waits for time to pass or for a message, so that a test can move time on
    without racing them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 1_000.0
        self._waiting: dict[threading.Thread, tuple[float, Mailbox[Any]]] = {}
        self.blocked: set[threading.Thread] = set()

    def monotonic(self) -> float:
        return self._now

    def wall(self) -> float:
        return 1_900_000_000.0 + self._now

    def sleep(self, seconds: float) -> None:
        never: Mailbox[object] = Mailbox()
        self.wait(never, seconds)

    def wait(self, mailbox: Mailbox[T], seconds: float) -> T | None:
        me = threading.current_thread()
        until = self._now + max(0.0, seconds)
        while True:
            # a message is taken and the waiting ended in one step, or `settle` could look in between
            with self._lock:
                self._waiting[me] = until, mailbox
                message = mailbox.get(0.0)
                if message is not None or self._now >= until:
                    del self._waiting[me]
                    return message
            time.sleep(0.001)

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds

    def settle(self) -> None:
        """Return once every thread of the worker waits: for time, for a message, or for the test."""
        wait_for(self._is_settled, "all of the worker's threads waiting")

    def _is_settled(self) -> bool:
        with self._lock:
            alive = {thread for thread in threading.enumerate() if thread.name.startswith("jobqueue-")}
            return alive == {*self._waiting, *self.blocked} and all(
                until > self._now and not mailbox for until, mailbox in self._waiting.values()
            )
