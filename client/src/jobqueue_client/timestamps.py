"""Times as the API writes and reads them: RFC 3339, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from .errors import UnexpectedAnswer


def in_utc(moment: datetime) -> datetime:
    """Return an aware `moment` in UTC.

    Raises
    ------
    ValueError
        If UTC has no such time.
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("beyond the calendar") from error


def write_timestamp(name: str, moment: datetime) -> str:
    """Write an aware `moment` in UTC.

    Raises
    ------
    ValueError
        If it is naive, or if UTC has no such time. The message calls it `name`.
    """
    if moment.utcoffset() is None:
        raise ValueError(f"{name} needs a time zone")
    try:
        return in_utc(moment).isoformat()
    except ValueError as error:
        raise ValueError(f"{name} is beyond the calendar") from error


def read_timestamp(text: object) -> datetime:
    """Read a timestamp of the API as an aware datetime.

    Raises
    ------
    UnexpectedAnswer
        If it is not one.
    """
    try:
        return parse_timestamp(text)
    except (TypeError, ValueError) as error:
        raise UnexpectedAnswer("The API's answer holds something that is not a time.") from error


def parse_timestamp(text: object) -> datetime:
    """Return what `text` says as an aware datetime in UTC.

    Raises
    ------
    TypeError, ValueError
        If it is not text, or not a time.
    """
    if not isinstance(text, str):
        raise TypeError("a timestamp is text")
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else in_utc(moment)
