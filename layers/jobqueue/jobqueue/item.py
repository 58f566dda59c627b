"""How a job is written as an item of the jobs table, and read back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from jobqueue.errors import CorruptItem
from jobqueue.job import (
    Job,
    JobFailure,
    JobPriority,
    JobStatus,
    JobSummary,
    format_timestamp,
    parse_timestamp,
)

Attributes: TypeAlias = dict[str, Any]
"""Attributes of an item as plain Python values, by name."""

BILLED_BYTES = 1024
"""A write is billed by the started kilobyte of the whole item."""

_ASSUMED_REST = 900
"""About what the other attributes of an item take by the time that its job is finished, in bytes."""

_serialize = TypeSerializer().serialize
_deserialize = TypeDeserializer().deserialize


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    """A job with what the table keeps about it.

    Attributes
    ----------
    job : Job
        The job itself.
    rev : int
        Grows by one with every change of state and every request to cancel.
    marks : tuple of str
        The last calls that changed the job, to recognise one that is repeated.
    enqueue_token : str or None
        Which write put a keyed job here.
    fingerprint : str or None
        What was asked for under the idempotency key.
    expires_at : int or None
        When a finished job stops to count, in seconds since 1970.
    lane_order : str
        Where the job stands in its lane.
    """

    job: Job
    rev: int
    marks: tuple[str, ...] = ()
    enqueue_token: str | None = None
    fingerprint: str | None = None
    expires_at: int | None = None
    lane_order: str

    def is_past_retention(self, now: datetime) -> bool:
        """Tell whether the job counts as absent, though DynamoDB has not deleted it yet."""
        return self.expires_at is not None and self.expires_at < int(now.timestamp())


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEntry:
    """What the index of lanes tells of a job, possibly some writes ago."""

    summary: JobSummary
    rev: int
    lane: str
    lane_order: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An entry of the index that cannot be read, but for its id."""

    id: str


def key(job_id: str) -> Attributes:
    """Return the key of a job."""
    return {"id": job_id}


def to_item(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Write plain Python values as DynamoDB's; those that are None are left out."""
    return {name: _serialize(value) for name, value in attributes.items() if value is not None}


def new_job_attributes(job: Job) -> Attributes:
    """Return the attributes of a job that was never claimed."""
    return {
        "id": job.id,
        "type": job.type,
        "queue": job.queue,
        "payload": pack(json.dumps(job.payload, separators=(",", ":"), ensure_ascii=False)),
        "priority": job.priority.rank,
        "status": job.status.value,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "idempotency_key": job.idempotency_key,
        "available_at": format_timestamp(job.available_at),
        "created_by": job.created_by,
        "created_at": format_timestamp(job.created_at),
        "updated_at": format_timestamp(job.updated_at),
        "trace_id": job.trace_id,
    }


def read_job(item: Mapping[str, Any]) -> StoredJob:
    """Read an item of the jobs table.

    Raises
    ------
    CorruptItem
        If it is not a job.
    """
    try:
        attributes = _plain(item)
        return StoredJob(
            job=_job(attributes),
            rev=int(attributes["rev"]),
            marks=tuple(attributes.get("marks", ())),
            enqueue_token=attributes.get("enqueue_token"),
            fingerprint=attributes.get("fingerprint"),
            expires_at=_integer(attributes.get("expires_at")),
            lane_order=attributes["lane_order"],
        )
    except (KeyError, ValueError, TypeError, zlib.error) as error:
        raise CorruptItem(f"an item cannot be read as a job: {type(error).__name__}") from error


def read_entry(item: Mapping[str, Any]) -> LaneEntry:
    """Read an entry of the index of lanes.

    Raises
    ------
    CorruptItem
        If it is not one.
    """
    try:
        attributes = _plain(item)
        return LaneEntry(
            summary=JobSummary(**_common(attributes)),
            rev=int(attributes["rev"]),
            lane=attributes["lane"],
            lane_order=attributes["lane_order"],
        )
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptItem(f"an entry cannot be read: {type(error).__name__}") from error


def pack(text: str) -> str | bytes:
    """Return `text`, compressed where that saves a billed kilobyte of the item."""
    plain = len(text.encode())
    if plain + _ASSUMED_REST <= BILLED_BYTES:
        return text
    packed = zlib.compress(text.encode(), level=6)
    return packed if _kilobytes(len(packed)) < _kilobytes(plain) else text


def unpack(stored: str | bytes) -> Any:
    """Return the JSON value that `pack` kept, compressed or not."""
    return json.loads(zlib.decompress(stored) if isinstance(stored, bytes) else stored)


def failure_attribute(failure: JobFailure) -> Attributes:
    """Write one entry of the list of failures."""
    return {
        "error": failure.error,
        "failed_at": format_timestamp(failure.failed_at),
        "worker_id": failure.worker_id,
    }


def _kilobytes(size: int) -> int:
    return -(-(size + _ASSUMED_REST) // BILLED_BYTES)


def _plain(item: Mapping[str, Any]) -> Attributes:
    return {name: value["B"] if "B" in value else _deserialize(value) for name, value in item.items()}


def _job(attributes: Attributes) -> Job:
    return Job(
        **_common(attributes),
        payload=unpack(attributes["payload"]),
        updated_at=parse_timestamp(attributes["updated_at"]),
        idempotency_key=attributes.get("idempotency_key"),
        lease_token=attributes.get("lease_token"),
        lease_expires_at=_time(attributes.get("lease_expires_at")),
        cancel_requested=attributes.get("cancel_requested", False),
        progress=_json(attributes.get("progress")),
        result=_json(attributes.get("result")),
        error=attributes.get("error"),
        errors=tuple(_failure(entry) for entry in attributes.get("errors", ())),
        trace_id=attributes.get("trace_id"),
    )


def _common(attributes: Attributes) -> dict[str, Any]:
    return {
        "id": attributes["id"],
        "type": attributes["type"],
        "queue": attributes["queue"],
        "priority": JobPriority.from_rank(int(attributes["priority"])),
        "status": JobStatus(attributes["status"]),
        "retry_count": int(attributes["retry_count"]),
        "max_retries": int(attributes["max_retries"]),
        "available_at": parse_timestamp(attributes["available_at"]),
        "created_by": attributes["created_by"],
        "created_at": parse_timestamp(attributes["created_at"]),
        "claimed_at": _time(attributes.get("claimed_at")),
        "worker_id": attributes.get("worker_id"),
        "finished_at": _time(attributes.get("finished_at")),
    }


def _failure(entry: Attributes) -> JobFailure:
    return JobFailure(
        error=entry["error"],
        failed_at=parse_timestamp(entry["failed_at"]),
        worker_id=entry.get("worker_id"),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_timestamp(text)


def _integer(number: Any) -> int | None:
    return None if number is None else int(number)


def _json(stored: str | bytes | None) -> Any:
    return None if stored is None else unpack(stored)
