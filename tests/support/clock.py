"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 2, 26, 2, 123456, tzinfo=UTC)


class FakeClock:
    """Gives the time, as an aware datetime in UTC, that a test has set.

    Parameters
    ----------
    now : datetime
        The time at first.
    """

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; a negative number is a clock that is set back."""
        self.now += timedelta(seconds=seconds)
