"""What happened to jobs, as the stream of their table tells it.

A change is read from the item before and after it. Each comes at least once, and those of one job in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from jobqueue.errors import CorruptItem
from jobqueue.item import read_entry
from jobqueue.job import FINISHED, JobStatus, JobSummary, parse_timestamp
from jobqueue.lifecycle import LEASE_EXPIRED

_READ = (
    *("id", "type", "queue", "priority", "status", "retry_count", "max_retries", "available_at"),
    *("created_by", "created_at", "claimed_at", "worker_id", "finished_at", "rev", "lane", "lane_order"),
)
_DIGEST_BYTES = 6
"""Of a batch: two of a queue's last hundred are equal by chance less than once in 10**10 batches."""


class Happened(StrEnum):
    """What became of a job."""

    ENQUEUED = "enqueued"
    CLAIMED = "claimed"
    TAKEN_OVER = "taken-over"
    """Its holder's lease had run out, and another worker claimed it: rescue and claim in one."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RETRIED = "retried"
    """An attempt failed or its lease ran out, and there will be another one."""
    RELEASED = "released"
    REVIVED = "revived"
    """It had failed or was cancelled, and an admin gave it a new life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one job.

    Attributes
    ----------
    id : str
        The same however often the change is told.
    sequence : str
        Its place in the stream.
    before, after : JobSummary or None
        The job; None before it was there, and after it was removed.
    happened : Happened or None
        None where nothing did that matters to others: a lease was extended, an old job removed.
    lease_ran_out : bool
        Whether the attempt ended because its worker went silent.
    changed_at : datetime or None
        When.
    trace_id : str or None
        The trace of the request that enqueued the job.
    """

    id: str
    sequence: str
    before: JobSummary | None
    after: JobSummary | None
    happened: Happened | None = None
    lease_ran_out: bool = False
    changed_at: datetime | None = None
    trace_id: str | None = None

    @property
    def waited(self) -> timedelta | None:
        """For how long a job that was claimed now had been ready."""
        if self.happened is not Happened.CLAIMED or self.after is None or self.after.claimed_at is None:
            return None
        return max(timedelta(0), self.after.claimed_at - self.after.available_at)

    @property
    def ran(self) -> timedelta | None:
        """How long the attempt took that its worker ended now."""
        ended = self.happened in {Happened.COMPLETED, Happened.FAILED, Happened.RETRIED}
        if not ended or self.lease_ran_out or self.before is None or self.changed_at is None:
            return None
        if self.before.claimed_at is None:
            return None
        return max(timedelta(0), self.changed_at - self.before.claimed_at)


def read_change(record: Mapping[str, Any]) -> Change:
    """Read a record of the stream.

    Raises
    ------
    CorruptItem
        If it does not tell of a job.
    """
    told = record["dynamodb"]
    old, new = told.get("OldImage"), told.get("NewImage")
    before, after = _summary(old), _summary(new)
    change = Change(id=record["eventID"], sequence=told["SequenceNumber"], before=before, after=after)
    if after is None or new is None:
        return change
    happened = _happened(
        before,
        after,
        is_new=new["rev"]["N"] == "0",
        is_held_anew=old is not None and _text(old, "lease_token") != _text(new, "lease_token"),
    )
    return Change(
        id=change.id,
        sequence=change.sequence,
        before=before,
        after=after,
        happened=happened,
        # the error of an earlier attempt stays; a worker's report leaves a mark, rescue does not
        lease_ran_out=happened is not None
        and _text(new, "error") == LEASE_EXPIRED
        and old is not None
        and _text(old, "status") == JobStatus.RUNNING
        and old.get("marks") == new.get("marks"),
        changed_at=_time(new, "updated_at"),
        trace_id=_text(new, "trace_id"),
    )


def batch_digest(changes: Iterable[Change]) -> str:
    """Return by what the same changes are known when they come again."""
    digest = hashlib.sha256("\n".join(change.sequence for change in changes).encode())
    return digest.hexdigest()[: 2 * _DIGEST_BYTES]


def _happened(
    before: JobSummary | None, after: JobSummary, *, is_new: bool, is_held_anew: bool
) -> Happened | None:
    if is_new:  # also in the place of one that was past its retention
        return Happened.ENQUEUED
    if before is None:
        return None
    if before.status is after.status:
        return Happened.TAKEN_OVER if after.status is JobStatus.RUNNING and is_held_anew else None
    match after.status:
        case JobStatus.RUNNING:
            return Happened.CLAIMED
        case JobStatus.PENDING if before.status in FINISHED:
            return Happened.REVIVED
        case JobStatus.PENDING:
            return Happened.RETRIED if after.retry_count > before.retry_count else Happened.RELEASED
        case finished:
            return Happened(finished.value)


def _summary(image: Mapping[str, Any] | None) -> JobSummary | None:
    if image is None:
        return None
    return read_entry({name: image[name] for name in _READ if name in image}).summary


def _text(image: Mapping[str, Any], name: str) -> str | None:
    text: str | None = image.get(name, {}).get("S")
    return text


def _time(image: Mapping[str, Any], name: str) -> datetime:
    try:
        return parse_timestamp(_text(image, name) or "")
    except ValueError as error:
        raise CorruptItem(f"{name} is not a time") from error
