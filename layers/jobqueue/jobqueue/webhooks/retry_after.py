"""What an answer's Retry-After asks for.

https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,20}")


def retry_after(value: str | None, now: datetime, *, most: float) -> float | None:
    """Return how many seconds to wait, or None where nothing (understandable) was asked for.

    Parameters
    ----------
    value : str or None
        The header: a number of seconds, or a date.
    now : datetime
        The time.
    most : float
        The longest wait that is granted, in seconds.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), most)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter of numbers beyond every calendar
        return None
    if moment.tzinfo is None:  # "-0000": in UTC, says RFC 5322, of unknown place
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), most)
