"""What a job is: its fields, its statuses and priorities, and how ids and timestamps are written."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Self, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
Clock: TypeAlias = Callable[[], datetime]
"""Gives the time now, as an aware datetime in UTC."""

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: no I, L, O or U. https://www.crockford.com/base32.html"""

_JOB_ID = re.compile(r"job_[0-7][0-9A-HJKMNP-TV-Z]{25}")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


class JobStatus(StrEnum):
    """Where a job is in its life. ``failed`` is the dead-letter state."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_finished(self) -> bool:
        """Whether only a retry can change the job again."""
        return self in FINISHED


FINISHED = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED})


class JobPriority(StrEnum):
    """How urgent a job is. A new level is one new line: its name and its stored rank."""

    rank: int

    LOW = "low", 0
    MEDIUM = "medium", 10
    HIGH = "high", 20
    CRITICAL = "critical", 30

    def __new__(cls, label: str, rank: int = 0) -> Self:
        """Make a member of its name and its stored rank."""
        member = str.__new__(cls, label)
        member._value_ = label
        member.rank = rank
        return member

    @classmethod
    def from_rank(cls, rank: int) -> JobPriority:
        """Return the level that is stored as `rank`.

        Raises
        ------
        ValueError
            If no level has that rank.
        """
        for priority in cls:
            if priority.rank == rank:
                return priority
        raise ValueError(f"no priority is stored as {rank}")

    @classmethod
    def highest_first(cls) -> tuple[JobPriority, ...]:
        """Return all levels, the most urgent first."""
        return tuple(sorted(cls, key=lambda priority: priority.rank, reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """One failed attempt.

    Attributes
    ----------
    error : str
        What went wrong, redacted; at most 1,024 bytes of UTF-8.
    failed_at : datetime
        When it was recorded, in UTC.
    worker_id : str or None
        Who held the job.
    """

    error: str
    failed_at: datetime
    worker_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One background job as it is stored. All times are aware and in UTC; durations are seconds.

    `worker_id`, `claimed_at` and `lease_token` stay on a finished job, to tell who finished it.
    """

    id: str
    type: str
    queue: str
    payload: JsonObject
    priority: JobPriority
    status: JobStatus
    retry_count: int
    max_retries: int
    available_at: datetime
    created_by: str
    created_at: datetime
    updated_at: datetime
    idempotency_key: str | None = None
    worker_id: str | None = None
    claimed_at: datetime | None = None
    lease_token: str | None = None
    lease_expires_at: datetime | None = None
    cancel_requested: bool = False
    progress: Any = None
    result: Any = None
    error: str | None = None
    errors: tuple[JobFailure, ...] = ()
    finished_at: datetime | None = None
    trace_id: str | None = None

    def evolve(self, **changes: Any) -> Job:
        """Return a copy of the job with `changes` made."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """What a list shows of a job: only what the index of lanes carries."""

    id: str
    type: str
    queue: str
    priority: JobPriority
    status: JobStatus
    retry_count: int
    max_retries: int
    available_at: datetime
    created_by: str
    created_at: datetime
    claimed_at: datetime | None = None
    worker_id: str | None = None
    finished_at: datetime | None = None


def utc_now() -> datetime:
    """Return the time now, in UTC: the clock of a deployed function."""
    return datetime.now(UTC)


def format_timestamp(moment: datetime) -> str:
    """Write `moment` in UTC at a fixed width, so that the order of text is the order of time.

    Raises
    ------
    ValueError
        If `moment` is naive.
    """
    if moment.tzinfo is None:
        raise ValueError("a timestamp needs a time zone")
    # isoformat, not strftime: "%Y" does not pad years below 1000 on every platform
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_timestamp(text: str) -> datetime:
    """Read what `format_timestamp` wrote.

    Raises
    ------
    ValueError
        If `text` is not a timestamp in exactly that form.
    """
    if not _TIMESTAMP.fullmatch(text):
        raise ValueError("not a timestamp in UTC with microseconds")
    return datetime.fromisoformat(text)


def is_job_id(text: str) -> bool:
    """Tell whether `text` has the form of a job id."""
    return _JOB_ID.fullmatch(text) is not None


def new_job_id(now: datetime) -> str:
    """Make an id that sorts by time: ``job_`` and a ULID of `now` (https://github.com/ulid/spec)."""
    milliseconds = int(now.timestamp() * 1000)
    return _job_id((milliseconds << 80) | secrets.randbits(80))


def keyed_job_id(created_by: str, idempotency_key: str) -> str:
    """Derive the id of the job that `created_by` makes with `idempotency_key`.

    The same two strings always give the same id, so that the table's primary key is what makes the
    idempotency key unique. Lengths go in front, or ``a#b`` and ``c`` would meet ``a`` and ``b#c``.
    """
    digest = hashlib.sha256()
    for part in (created_by.encode(), idempotency_key.encode()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return _job_id(int.from_bytes(digest.digest()[:16], "big"))


def new_token() -> str:
    """Make a token of 128 random bits, as 22 URL-safe characters."""
    return secrets.token_urlsafe(16)


def _job_id(bits: int) -> str:
    return "job_" + "".join(CROCKFORD[(bits >> shift) & 31] for shift in range(125, -1, -5))
