"""How fast each caller may send requests, where a deployment limits that.

Time is cut into windows of ten seconds, and a caller's requests are counted in each, by one write a request.
A caller that ends one window and begins the next with all that it may sends twice of that within ten seconds;
from window to window the rate holds.
"""

from __future__ import annotations

import math
from threading import Lock

from jobqueue.callers import CallersTable
from jobqueue.dynamodb import make_client
from jobqueue.errors import TooManyRequests
from jobqueue.job import Clock, utc_now
from jobqueue.settings import CallerLimit

WINDOW_SECONDS = 10
KEPT_SECONDS = 3600
"""How long a count outlives its window: longer than any two clocks are apart."""

MOST_REMEMBERED = 1000
"""Callers of whom a process knows that they are refused; those beyond are found out anew at each request."""


class Throttle:
    """Counts the requests of callers, and refuses those that are too many. May be used by several threads.

    Once a process has met the limit of a caller it refuses until the window ends, without asking the table: a
    flood costs no writes.

    Parameters
    ----------
    table : CallersTable
        Where the counts are.
    per_second : float
        How many requests a second a caller may send on average, over a window; at least one in each.
    clock : Clock
        The time.
    """

    def __init__(self, table: CallersTable, per_second: float, clock: Clock = utc_now) -> None:
        self._table = table
        self._most = max(1, round(per_second * WINDOW_SECONDS))
        self._clock = clock
        self._lock = Lock()
        self._window = 0
        self._refused: set[str] = set()

    def admit(self, caller: str) -> None:
        """Count a request of a caller.

        Parameters
        ----------
        caller : str
            The principal's id.

        Raises
        ------
        TooManyRequests
            If it is one too many. It tells when the window ends.
        Unavailable
            If it cannot be counted.
        InvalidSettings
            If there is no table to count it in.
        """
        now = self._clock().timestamp()
        window = int(now // WINDOW_SECONDS)
        ends_at = (window + 1) * WINDOW_SECONDS
        if not self._is_refused(caller, window):
            if self._table.count(caller, window, most=self._most, expires_at=ends_at + KEPT_SECONDS):
                return
            self._remember(caller, window)
        raise TooManyRequests(math.ceil(ends_at - now))

    def _is_refused(self, caller: str, window: int) -> bool:
        with self._lock:
            if window != self._window:
                self._window, self._refused = window, set()
            return caller in self._refused

    def _remember(self, caller: str, window: int) -> None:
        with self._lock:
            if window == self._window and len(self._refused) < MOST_REMEMBERED:
                self._refused.add(caller)


def open_throttle(limit: CallerLimit) -> Throttle:
    """Open the throttle of a deployment."""
    return Throttle(CallersTable(make_client(), limit.table), limit.per_second)
