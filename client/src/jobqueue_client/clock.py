"""Time, as the client and the worker see it. Passed in, so that a test never has to wait."""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


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

    def wait(self, mailbox: SimpleQueue[T], seconds: float) -> T | None:
        """Return the next message in `mailbox`, or None when `seconds` have passed without one.

        A caller must bear a None that comes early. A SimpleQueue, since its `put` may be called in a
        signal handler, where taking the lock of an Event or a Condition can deadlock.
        """
        try:
            # bounded, since a lock refuses to wait for centuries
            return mailbox.get(timeout=min(max(seconds, 0.0), 3600.0))
        except Empty:
            return None
