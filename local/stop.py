"""Being told to end, without being interrupted in the middle of a step."""

from __future__ import annotations

import signal
import time

from local.failure import Stopped

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Notes the signals that ask for the end.

    The handler only notes: an exception raised from it could fall between the start of a child and
    the line that remembers it, and such a child would be left behind.
    """

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        """Take over SIGINT, SIGTERM and SIGHUP of this process."""
        for number in ENDING:
            signal.signal(number, lambda *_: self._note())

    def check(self) -> None:
        """Raise `Stopped` if the end was asked for."""
        if self.asked:
            raise Stopped

    def sleep(self, seconds: float) -> None:
        """Wait `seconds`, a fraction of one, then `check`."""
        time.sleep(seconds)
        self.check()

    def _note(self) -> None:
        self.asked = True
