"""When a call is repeated, and after how long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import Enum

from .errors import ClientError, NoAnswer, TooManyRequests, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How patient a client is.

    Attributes
    ----------
    attempts : int
        How often a call is made at most. 1 never repeats.
    base_seconds, cap_seconds : float
        A repeat waits a random time between 0 and ``min(cap, base * 2^n)`` (full jitter), and the answer's
        Retry-After before that.
    total_seconds : float
        No repeat starts later than this after the call did.
    """

    attempts: int = 5
    base_seconds: float = 0.2
    cap_seconds: float = 10.0
    total_seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.base_seconds, self.cap_seconds, self.total_seconds) < 0:
            raise ValueError("a retry policy makes at least one attempt and has no negative times")

    def delay(self, repeat: int, random: float, retry_after: float | None = None) -> float:
        """Return the seconds to wait before a repeat.

        Parameters
        ----------
        repeat : int
            0 before the first repeat.
        random : float
            From 0 up to 1.
        retry_after : float, optional
            What the answer asked for, in seconds. The jitter comes on top, or all callers that were
            throttled together would return together.
        """
        # the exponent is bounded, since a worker counts its failures for as long as the API is down
        backoff = min(self.cap_seconds, self.base_seconds * 2.0 ** min(repeat, 64))
        return (retry_after or 0.0) + random * backoff


NO_RETRY = RetryPolicy(attempts=1)


class Repeat(Enum):
    """What makes it safe to send a call again.

    ALWAYS
        It reads, or the server recognises it: by its idempotency key or by its lease token.
    UNLESS_RECEIVED
        It does more each time that it is received: a claim whose answer was lost holds a job that nobody
        works on until its lease runs out, and a repeat would take one more. So it is repeated only when the
        API cannot have received it, or says itself that it was too busy.
    """

    ALWAYS = "always"
    UNLESS_RECEIVED = "unless received"

    def allows(self, error: ClientError) -> bool:
        """Tell whether the call that ended in `error` may be sent again."""
        if not isinstance(error, Unavailable):
            return False
        if self is Repeat.ALWAYS:
            return error.status not in {501, 505}
        if isinstance(error, NoAnswer):
            return not error.may_have_landed
        return isinstance(error, TooManyRequests) or error.status == 503


def retry_after_seconds(value: str | None, *, date: str | None, wall: float) -> float | None:
    """Read a Retry-After header.

    Parameters
    ----------
    value : str or None
        Seconds, or an HTTP date.
    date : str or None
        The answer's Date header. An HTTP date is measured from it where it can be, so that it does not
        matter what time it is on this machine.
    wall : float
        The time here, in seconds since the epoch.

    Returns
    -------
    float or None
        Seconds, never negative; None when there is no such header or it cannot be read.
    """
    if value is None:
        return None
    text = value.strip()
    # int() would also take "1_0" and digits of other scripts
    if text.isascii() and text.isdigit():
        return float(text[:12])
    until = _epoch_seconds(text)
    if until is None:
        return None
    since = _epoch_seconds(date) if date else None
    return max(0.0, until - (wall if since is None else since))


def _epoch_seconds(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter of numbers beyond every calendar
        return None
    # an HTTP date is in UTC by definition, whatever it fails to say
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
