"""What a caller asks for when it enqueues, the rules that it must keep, and its fingerprint."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from jobqueue.declared import queue_errors, type_errors
from jobqueue.errors import FieldError
from jobqueue.fielderrors import field_error, field_errors
from jobqueue.job import JobPriority, JsonObject
from jobqueue.jobtype import MAX_RETRIES, JobTypes
from jobqueue.jsontext import NotStorable, canonical, has_lone_surrogate, to_text

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_PAYLOAD_BYTES = 65_536
MAX_KEY_LENGTH = 255
MAX_DELAY_SECONDS = 31_536_000
_CONTROL = "Cc"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as it is asked for. None takes the default of the type.

    Attributes
    ----------
    type : str
        A declared type.
    payload : JSON object
        At most 65,536 bytes as compact JSON and 32 levels deep; must fit the type's model.
    queue : str or None
        A declared queue.
    priority : JobPriority
        How urgent the job is.
    max_retries : int or None
        0 to 100.
    delay_seconds : int or None
        Not to be claimed for so many seconds, 0 to 31,536,000.
    run_at : datetime or None
        Not to be claimed before; at most a year ahead, the past means now. Not with `delay_seconds`.
    idempotency_key : str or None
        1 to 255 characters without control characters.
    """

    type: str
    payload: JsonObject = field(default_factory=dict)
    queue: str | None = None
    priority: JobPriority = JobPriority.LOW
    max_retries: int | None = None
    delay_seconds: int | None = None
    run_at: datetime | None = None
    idempotency_key: str | None = None

    def available_at(self, now: datetime) -> datetime:
        """Return when the job may first be claimed."""
        if self.run_at is not None:
            return max(self.run_at, now)
        return now + timedelta(seconds=self.delay_seconds or 0)


def new_job_errors(new: NewJob, job_types: JobTypes, now: datetime) -> tuple[FieldError, ...]:
    """Return every rule that `new` breaks; none means that it may be enqueued."""
    return (
        *type_errors(new.type, job_types),
        *queue_errors(new.queue, job_types),
        *payload_errors(new.type, new.payload, job_types),
        *_range_errors(new, now),
        *_key_errors(new.idempotency_key),
    )


def payload_errors(type_name: str, payload: JsonObject, job_types: JobTypes) -> tuple[FieldError, ...]:
    """Return what is wrong with `payload` for the type called `type_name`.

    An unknown type has no model, so only size, depth and characters are looked at.
    """
    try:
        text = to_text(payload, max_bytes=MAX_PAYLOAD_BYTES)
    except NotStorable as error:
        return (field_error("payload", error.code, str(error)),)
    job_type = job_types.get(type_name)
    return tuple(_model_errors(job_type.payload_model, text)) if job_type else ()


def fingerprint(new: NewJob, job_types: JobTypes) -> str:
    """Return a digest that is equal for requests that mean the same.

    Members that equal their defaults are left out, so spelling them out changes nothing; a delay is
    not resolved to a time, or a repeated request would never equal the first.
    """
    job_type = job_types.get(new.type)
    members = {
        "type": new.type,
        "payload": new.payload or None,
        "queue": None if job_type and new.queue == job_type.queue else new.queue,
        "priority": None if new.priority is JobPriority.LOW else new.priority.value,
        "max_retries": (
            None if job_type and new.max_retries == job_type.policy.max_retries else new.max_retries
        ),
        "delay_seconds": new.delay_seconds or None,
        # a number, since a time at the calendar's edge cannot be written in UTC
        "run_at": (new.run_at - _EPOCH) // timedelta(microseconds=1) if new.run_at else None,
    }
    sent = {name: value for name, value in members.items() if value is not None}
    return hashlib.sha256(canonical(sent).encode()).hexdigest()[:32]


def _range_errors(new: NewJob, now: datetime) -> Iterator[FieldError]:
    if new.max_retries is not None and not 0 <= new.max_retries <= MAX_RETRIES:
        yield field_error("max_retries", "out_of_range", f"must be 0 to {MAX_RETRIES}")
    if new.delay_seconds is not None and not 0 <= new.delay_seconds <= MAX_DELAY_SECONDS:
        yield field_error("delay_seconds", "out_of_range", f"must be 0 to {MAX_DELAY_SECONDS}")
    if new.run_at is None:
        return
    if new.delay_seconds is not None:
        yield field_error("run_at", "conflict", "cannot go with delay_seconds")
    if new.run_at.tzinfo is None:
        yield field_error("run_at", "no_time_zone", "needs an offset from UTC")
    elif new.run_at > now + timedelta(seconds=MAX_DELAY_SECONDS):
        yield field_error("run_at", "out_of_range", "is more than a year ahead")


def _key_errors(key: str | None) -> Iterator[FieldError]:
    if key is None:
        return
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        yield field_error("idempotency_key", "wrong_length", f"must have 1 to {MAX_KEY_LENGTH} characters")
    if has_lone_surrogate(key):
        yield field_error("idempotency_key", "invalid_unicode", "has half of a surrogate pair")
    if any(unicodedata.category(character) == _CONTROL for character in key):
        yield field_error("idempotency_key", "control_character", "has a control character")


def _model_errors(model: type[BaseModel], text: str) -> Iterator[FieldError]:
    from pydantic import ValidationError  # only callers that validate pay for the import

    try:
        # from JSON text, since strict mode reads dates and enums from JSON but not from Python strings
        model.model_validate_json(text, strict=True)
    except ValidationError as invalid:
        yield from field_errors(invalid.errors(include_url=False, include_input=False), ["payload"])
