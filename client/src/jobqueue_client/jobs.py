"""What goes to the API and what comes back: jobs to be made, and jobs as the API shows them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from .errors import UnexpectedAnswer
from .timestamps import parse_timestamp, write_timestamp

JsonObject: TypeAlias = dict[str, Any]

FINISHED = frozenset({"completed", "failed", "cancelled"})


def mint_key() -> str:
    """Make an idempotency key that nobody else has: 128 random bits."""
    return "auto-" + secrets.token_urlsafe(16)


def encode(value: object) -> bytes:
    """Write `value` as compact UTF-8 JSON.

    Raises
    ------
    TypeError, ValueError
        If `value` is not JSON: an object of some class, NaN, Infinity, half a surrogate pair.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """One failed attempt. Times are aware and in UTC."""

    error: str
    failed_at: datetime
    worker_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job as the API shows it to this caller. All times are aware and in UTC.

    What the caller may not see, and what a list leaves out, is None: `payload` and `result` are shown to the
    job's producer, the worker that holds it and admins, `error` and `errors` to admins, `lease_token` only
    to the worker that claims it.

    Members of an answer that this version does not know are ignored, and `status` and `priority` are plain
    strings, so that a newer API does not break an older client.
    """

    id: str
    type: str
    queue: str
    status: str
    priority: str
    retry_count: int
    max_retries: int
    created_at: datetime
    available_at: datetime
    created_by: str | None = None
    updated_at: datetime | None = None
    finished_at: datetime | None = None
    worker_id: str | None = None
    claimed_at: datetime | None = None
    lease_expires_at: datetime | None = None
    cancel_requested: bool = False
    idempotency_key: str | None = None
    # not in the repr: it ends up in logs, and these hold other people's data or a secret
    lease_token: str | None = field(default=None, repr=False)
    payload: JsonObject | None = field(default=None, repr=False)
    progress: Any = field(default=None, repr=False)
    result: Any = field(default=None, repr=False)
    error: str | None = field(default=None, repr=False)
    errors: tuple[JobFailure, ...] = field(default=(), repr=False)

    @property
    def is_finished(self) -> bool:
        """Whether the job is completed, failed or cancelled: only a retry can change it again."""
        return self.status in FINISHED

    @classmethod
    def from_json(cls, data: object) -> Job:
        """Read a job from an answer.

        Raises
        ------
        UnexpectedAnswer
            If `data` is not a job.
        """
        try:
            known = _members(cls, data)
            known["errors"] = tuple(
                JobFailure(**_members(JobFailure, one)) for one in known.get("errors") or ()
            )
            return cls(**known)
        except (TypeError, ValueError) as error:
            raise UnexpectedAnswer("The API's answer is not a job.") from error


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A job, and whether this call made it.

    Attributes
    ----------
    job : Job
        As it is now.
    created : bool
        False when the idempotency key was known: an earlier call made the job. When a call with a key of the
        caller's own had to be repeated because its answer was lost, the earlier call may have been its own.
    """

    job: Job
    created: bool


@dataclass(frozen=True, slots=True)
class Lease:
    """How long a running job is held, and whether somebody asked for it to be cancelled."""

    lease_expires_at: datetime
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class JobPage:
    """One page of a list. `next_cursor` is None on the last one; a page may be empty and not be the last."""

    jobs: tuple[Job, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a claim brought. `retry_after` is what the API asks to wait, in seconds, when it had no job."""

    jobs: tuple[Job, ...]
    retry_after: float | None = None


class Held(Protocol):
    """A job under a lease: a `Job` from a claim, or anything else that has kept these two."""

    @property
    def id(self) -> str:
        """The job's id."""

    @property
    def lease_token(self) -> str | None:
        """The token that the claim gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to be made.

    Attributes
    ----------
    type : str
        One of the job types that the deployment declares.
    payload : mapping
        What the job is about, as the type's model wants it.
    queue : str, optional
        Default: the type's queue.
    priority : str, optional
        ``low`` (the default), ``medium``, ``high`` or ``critical``.
    max_retries : int, optional
        0 to 100. Default: the type's.
    delay_seconds : int, optional
        Not before so many seconds from now, up to a year. Not together with `run_at`.
    run_at : datetime, optional
        Not before this time, which needs a time zone.
    idempotency_key : str
        1 to 255 characters. Default: a random one, minted here, so that sending the same object again, as
        the client does when an answer is lost, never makes a second job.

    Raises
    ------
    ValueError
        If `run_at` is naive or beyond the calendar in UTC, or if both `run_at` and `delay_seconds` are given.
    """

    type: str
    payload: Mapping[str, Any] = field(default_factory=dict, repr=False)
    queue: str | None = None
    priority: str | None = None
    max_retries: int | None = None
    delay_seconds: int | None = None
    run_at: datetime | None = None
    idempotency_key: str = field(default_factory=mint_key)

    def __post_init__(self) -> None:
        if self.run_at is not None:
            write_timestamp("run_at", self.run_at)  # refused here, and not when it is sent
            if self.delay_seconds is not None:
                raise ValueError("give delay_seconds or run_at, not both")

    def to_json(self) -> JsonObject:
        """Return the request's body: what is not set is left to the API's defaults."""
        body: JsonObject = {"type": self.type, "payload": dict(self.payload)}
        for name in ("queue", "priority", "max_retries", "delay_seconds"):
            if getattr(self, name) is not None:
                body[name] = getattr(self, name)
        if self.run_at is not None:
            body["run_at"] = write_timestamp("run_at", self.run_at)
        body["idempotency_key"] = self.idempotency_key
        return body


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of one job of a `Client.complete_many`: a job from a claim, and its result."""

    job: Held
    result: Any = field(default=None, repr=False)


def _members(cls: type[Job] | type[JobFailure], data: object) -> JsonObject:
    if not isinstance(data, dict):
        raise TypeError("not a JSON object")
    known: JsonObject = {}
    for one in fields(cls):
        value = data.get(one.name)
        if value is not None:
            known[one.name] = parse_timestamp(value) if one.name.endswith("_at") else value
    return known
