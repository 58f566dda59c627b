"""What a function is told by its environment: read once, checked, then passed on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from jobqueue.errors import InvalidSettings

MAX_BACKOFF_BASE_SECONDS = 86_400
MAX_BACKOFF_CAP_SECONDS = 604_800
MAX_CALLER_THROTTLE_RATE = 1000
"""DynamoDB writes one item, which is a caller's count, no more often in a second."""
MAX_RETENTION_DAYS = 3650


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment of every function that uses the queue.

    Attributes
    ----------
    jobs_table : str
        ``JOBS_TABLE``: the name of the table of jobs.
    queues_table : str
        ``QUEUES_TABLE``: the name of the table of queues.
    retention_days : int
        ``RETENTION_DAYS``: how long a finished job is kept, 1 to 3,650 days.
    backoff_base_seconds : float
        ``BACKOFF_BASE_SECONDS``: the backoff of types that set none of their own, 0 to 86,400 s.
    backoff_cap_seconds : float
        ``BACKOFF_CAP_SECONDS``: the longest backoff of types that set none, 0 to 604,800 s.
    redact_emails : bool
        ``REDACT_EMAILS``: whether e-mail addresses are taken out of errors as well; without it, no.
    """

    jobs_table: str
    queues_table: str
    retention_days: int
    backoff_base_seconds: float
    backoff_cap_seconds: float
    redact_emails: bool = False

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings.

        Raises
        ------
        InvalidSettings
            If a variable is missing, is not a number or a flag, or is out of range.
        """
        env = os.environ if environ is None else environ
        return cls(
            jobs_table=text(env, "JOBS_TABLE"),
            queues_table=text(env, "QUEUES_TABLE"),
            retention_days=whole_number(env, "RETENTION_DAYS", 1, MAX_RETENTION_DAYS),
            backoff_base_seconds=number(env, "BACKOFF_BASE_SECONDS", 0, MAX_BACKOFF_BASE_SECONDS),
            backoff_cap_seconds=number(env, "BACKOFF_CAP_SECONDS", 0, MAX_BACKOFF_CAP_SECONDS),
            redact_emails=flag(env, "REDACT_EMAILS"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerLimit:
    """How fast each caller may send requests, as the environment of the API's functions tells it.

    Attributes
    ----------
    table : str
        ``CALLERS_TABLE``: the name of the table of callers.
    per_second : float
        ``CALLER_THROTTLE_RATE``: how many requests a second, more than 0 and up to 1,000.
    """

    table: str
    per_second: float

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> CallerLimit | None:
        """Read the limit. There is none where the rate is 0, or is not set.

        Raises
        ------
        InvalidSettings
            If the rate is not a number or is out of range, or if there is a rate and no table.
        """
        env = os.environ if environ is None else environ
        if not env.get("CALLER_THROTTLE_RATE"):
            return None
        per_second = number(env, "CALLER_THROTTLE_RATE", 0, MAX_CALLER_THROTTLE_RATE)
        return cls(table=text(env, "CALLERS_TABLE"), per_second=per_second) if per_second else None


def text(environ: Mapping[str, str], name: str) -> str:
    """Return the variable `name`, or raise `InvalidSettings` if it is missing or empty."""
    value = environ.get(name, "")
    if not value:
        raise InvalidSettings(f"{name} is not set")
    return value


def number(environ: Mapping[str, str], name: str, low: float, high: float) -> float:
    """Return the variable `name` as a number from `low` to `high`, or raise `InvalidSettings`."""
    try:
        value = float(text(environ, name))
    except ValueError:
        raise InvalidSettings(f"{name} is not a number") from None
    if not low <= value <= high:  # also false for NaN
        raise InvalidSettings(f"{name} must be {low:g} to {high:g}")
    return value


def whole_number(environ: Mapping[str, str], name: str, low: int, high: int) -> int:
    """Return the variable `name` as a whole number from `low` to `high`, or raise `InvalidSettings`."""
    value = number(environ, name, low, high)
    if not value.is_integer():
        raise InvalidSettings(f"{name} is not a whole number")
    return int(value)


def flag(environ: Mapping[str, str], name: str) -> bool:
    """Return whether the variable `name` is ``true``; where it is not set, it is ``false``.

    Raises
    ------
    InvalidSettings
        If it is anything else.
    """
    value = environ.get(name, "false")
    if value not in {"true", "false"}:
        raise InvalidSettings(f"{name} must be true or false")
    return value == "true"
