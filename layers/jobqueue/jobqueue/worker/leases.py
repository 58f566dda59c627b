"""When a lease is to be extended."""

from __future__ import annotations

import math

LONGEST_PAUSE = 15.0
"""Seconds between two extensions however long the lease is: how soon a request to cancel is seen."""

_AFTER_A_MISS = 1.0
_SHORTEST_PAUSE = 0.05


class LeaseTimer:
    """Times one lease on a monotonic clock.

    It counts from before the call that took or extended the lease was sent, so that it ends here no later
    than in the table, whatever the clocks of the two show.

    Parameters
    ----------
    seconds : float
        How long the claim, and each extension, holds the job.
    taken_at : float
        When the claim was sent.
    """

    def __init__(self, seconds: float, taken_at: float) -> None:
        self._seconds = seconds
        self._period = min(seconds / 3, LONGEST_PAUSE)
        self.extended(taken_at)

    @property
    def whole_seconds(self) -> int:
        """What to ask for."""
        return math.ceil(self._seconds)

    def extended(self, asked_at: float) -> None:
        """Note that the lease was taken or extended by a call that was sent at `asked_at`."""
        self._over_at = asked_at + self._seconds
        self._due_at = asked_at + self._period

    def missed(self) -> None:
        """Note that an extension did not come through: it is tried again soon."""
        self._due_at += min(_AFTER_A_MISS, self._period)

    def is_due(self, now: float) -> bool:
        """Tell whether it is time to extend the lease."""
        return now >= self._due_at

    def is_over(self, now: float) -> bool:
        """Tell whether the lease may have run out."""
        return now >= self._over_at

    def pause(self, now: float) -> float:
        """Return after how many seconds to look again."""
        return max(_SHORTEST_PAUSE, min(self._due_at, self._over_at) - now)
