"""How a handler ends other than by returning a result or failing."""

from __future__ import annotations

import math
from typing import SupportsFloat

from jobqueue.lifecycle import MAX_RETRY_IN_SECONDS
from jobqueue.newjob import MAX_DELAY_SECONDS


class Discard(Exception):
    """Raised by a handler: the job can never succeed. It ends as failed, whatever retries it has left."""


class RetryLater(Exception):
    """Raised by a handler: this attempt failed, and the next one shall come after `seconds`.

    Parameters
    ----------
    seconds : float
        0 to 604,800 (seven days), in place of the type's backoff.
    message : str
        What went wrong.
    """

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message)
        self.seconds = within(seconds, MAX_RETRY_IN_SECONDS)


class Snooze(Exception):
    """Raised by a handler: not now. The job comes again after `seconds`, and this counts as no attempt.

    Parameters
    ----------
    seconds : float
        0 to 31,536,000 (a year); 0 puts the job back where it stood.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = within(seconds, MAX_DELAY_SECONDS)


class Cancelled(Exception):
    """Raised by a handler that stopped because its job was asked to be cancelled. It ends as cancelled."""


class LeaseLost(Exception):
    """Raised by `Run.check` when the job is no longer this worker's. Let it rise."""


def within(seconds: object, most: int) -> float:
    """Return `seconds` as the queue takes it: a Decimal, say, is a number to a handler but not to JSON.

    Raises
    ------
    ValueError
        If it is no number, or not one of 0 to `most`.
    """
    number = math.nan
    if isinstance(seconds, SupportsFloat) and not isinstance(seconds, bool):
        try:
            number = float(seconds)
        except (OverflowError, ValueError):  # an integer beyond every float, a NaN that signals
            number = math.nan
    if not 0 <= number <= most:
        raise ValueError(f"seconds must be 0 to {most}")
    return number
