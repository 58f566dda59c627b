"""Time, as the client and the worker see it. Passed in, so that a test never has to wait."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Messages from threads and signal handlers to the one thread that reads them.

    No queue of the standard library will do. The `put` of a Queue takes a lock that the very thread may hold
    which the signal has interrupted, and the `get` of a SimpleQueue never returns when a signal arrives at
    the end of its timeout (before Python 3.13).
    """

    def __init__(self) -> None:
        self._messages: deque[T] = deque()
        self._arrived = Lock()  # open once a message has arrived
        self._arrived.acquire()

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: T) -> None:
        """Add a message. Never waits."""
        self._messages.append(message)
        with suppress(RuntimeError):  # it is open already
            self._arrived.release()

    def get(self, seconds: float) -> T | None:
        """Return the oldest message, or None when `seconds` have passed without one, or earlier."""
        if not self._messages:
            self._arrived.acquire(timeout=seconds)
        return self._messages.popleft() if self._messages else None


class Clock:
    """The machine's own clocks.

    Durations and deadlines are measured on the monotonic clock: a lease must not grow or shrink because
    somebody set the wall clock.
    """

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()

    def wall(self) -> float:
        """Return seconds since the epoch. Only for comparing with a date that the server sent."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Block for `seconds`."""
        time.sleep(seconds)

    def wait(self, mailbox: Mailbox[T], seconds: float) -> T | None:
        """Return the next message in `mailbox`, or None when `seconds` have passed without one.

        A caller must bear a None that comes early.
        """
        # bounded, since a lock refuses to wait for centuries
        return mailbox.get(min(max(seconds, 0.0), 3600.0))
