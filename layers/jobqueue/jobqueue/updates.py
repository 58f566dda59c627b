"""How each change of a job is written: what it expects to find, and which attributes it sets.

Nothing here reads or writes: `JobsTable.update` carries updates out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobqueue.conditions import (
    CANCEL_IS_NOT_ASKED,
    IS_HELD,
    IS_PENDING_AS_SEEN,
    IS_RUNNING,
    IS_UNCHANGED,
    LEASE_GROWS,
    LEASE_IS_OVER,
    RETRIES_ARE_LEFT,
    STANDS_AS_SEEN,
    as_seen,
    held_by,
)
from jobqueue.dynamodb import Update
from jobqueue.item import Attributes, LaneEntry, StoredJob, failure_attribute, key
from jobqueue.job import Job, JobFailure, JobStatus, format_timestamp
from jobqueue.lanes import Lanes, order
from jobqueue.lifecycle import LEASE_GRACE, Decision, Ended, Requeued

KEPT_FAILURES = 5
KEPT_MARKS = 8
"""Complete appends its own without having read the others; no change follows that could need more."""

HOLDER_ATTRIBUTES = ("worker_id", "claimed_at", "lease_token", "lease_expires_at", "progress", "lane_done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Who takes a job, until when, under which token."""

    worker_id: str
    token: str
    now: datetime
    expires_at: datetime


class Updates:
    """Words the updates of jobs.

    Parameters
    ----------
    lanes : Lanes
        Where a job is filed.
    retention : timedelta
        How long a finished job is kept.
    """

    def __init__(self, lanes: Lanes, retention: timedelta) -> None:
        self._lanes = lanes
        self._retention = retention

    def claim(self, entry: LaneEntry, hold: Hold) -> Update:
        """Take a pending job that stands as the index showed it."""
        return Update(
            key=key(entry.summary.id),
            conditions=(IS_PENDING_AS_SEEN,),
            values={
                "pending": JobStatus.PENDING.value,
                "seen_order": entry.lane_order,
                "seen_rev": entry.rev,
            },
            sets=self._hold_attributes(entry.summary.id, entry.summary.queue, hold),
            counts=("rev",),
        )

    def take_over(self, stored: StoredJob, hold: Hold, failure: JobFailure) -> Update:
        """Take a running job whose lease ran out, counting the lost lease as a failure."""
        job = stored.job
        return Update(
            key=key(job.id),
            conditions=(IS_UNCHANGED, LEASE_IS_OVER, RETRIES_ARE_LEFT, CANCEL_IS_NOT_ASKED),
            values=as_seen(stored) | {"over": format_timestamp(hold.now - LEASE_GRACE)},
            sets=self._hold_attributes(job.id, job.queue, hold)
            | {"retry_count": job.retry_count + 1}
            | _failure(job, failure),
            removes=("progress",),
            counts=("rev",),
        )

    def extend(
        self,
        job_id: str,
        *,
        holder: str,
        token: str,
        now: datetime,
        expires_at: datetime,
        progress: str | None,
    ) -> Update:
        """Move the end of a lease, never to an earlier time. Touches nothing that the index carries."""
        return Update(
            key=key(job_id),
            conditions=(IS_HELD, LEASE_GROWS),
            values=held_by(holder, token),
            sets={
                "lease_expires_at": format_timestamp(expires_at),
                "updated_at": format_timestamp(now),
                "progress": progress,
            },
        )

    def note_progress(self, job_id: str, *, holder: str, token: str, now: datetime, progress: str) -> Update:
        """Store progress under a lease that already lasts longer than was asked."""
        return Update(
            key=key(job_id),
            conditions=(IS_HELD,),
            values=held_by(holder, token),
            sets={"progress": progress, "updated_at": format_timestamp(now)},
        )

    def complete(
        self, job_id: str, *, holder: str, token: str, now: datetime, result: str | bytes | None, mark: str
    ) -> Update:
        """Finish a job without having read it: claim left the lane of completed jobs on the item."""
        return Update(
            key=key(job_id),
            conditions=(IS_HELD,),
            values=held_by(holder, token),
            sets=self._finish_attributes(job_id, JobStatus.COMPLETED, now) | {"result": result},
            copies={"lane": "lane_done"},
            removes=("lease_expires_at",),
            appends={"marks": mark},
            counts=("rev",),
        )

    def settle(
        self,
        stored: StoredJob,
        decision: Decision,
        *,
        now: datetime,
        mark: str | None = None,
        failure: JobFailure | None = None,
        only_if: tuple[str, ...] = (),
        values: Mapping[str, Any] | None = None,
        forget: tuple[str, ...] = (),
    ) -> Update:
        """Write what the lifecycle decided about a job that was read and has not changed since.

        Parameters
        ----------
        stored : StoredJob
            The job as it was read.
        decision : Requeued or Ended
            What becomes of it.
        now : datetime
            The time of the change.
        mark : str or None
            By what a repeated call is recognised.
        failure : JobFailure or None
            What went wrong, to be added to the job's failures.
        only_if : tuple of str
            More conditions, with their `values`.
        forget : tuple of str
            More attributes to remove.
        """
        job = stored.job
        sets: Attributes
        if isinstance(decision, Ended):
            sets = self._finish_attributes(job.id, decision.status, now)
            sets["lane"] = self._lanes.of_finished(job.id, job.queue, decision.status)
            removes: tuple[str, ...] = ("lease_expires_at",)
        else:
            sets = self._requeue_attributes(job, decision, now)
            removes = HOLDER_ATTRIBUTES
        if failure is not None:
            sets |= _failure(job, failure)
        if mark is not None:
            sets["marks"] = _with_mark(stored, mark)
        return Update(
            key=key(job.id),
            conditions=(IS_UNCHANGED, *only_if),
            values=as_seen(stored) | dict(values or {}),
            sets=sets,
            removes=(*removes, *forget),
            counts=("rev",),
        )

    def ask_to_cancel(self, stored: StoredJob, *, now: datetime, mark: str) -> Update:
        """Leave word for the holder of a running job."""
        return Update(
            key=key(stored.job.id),
            conditions=(IS_UNCHANGED,),
            values=as_seen(stored),
            sets={
                "cancel_requested": True,
                "updated_at": format_timestamp(now),
                "marks": _with_mark(stored, mark),
            },
            counts=("rev",),
        )

    def refile(self, stored: StoredJob) -> Update | None:
        """Show the index the true end of a lease that a heartbeat has moved; None where it shows it."""
        job = stored.job
        if job.lease_expires_at is None or stored.lane_order == order(job.lease_expires_at, job.id):
            return None
        return Update(
            key=key(job.id),
            conditions=(IS_RUNNING, STANDS_AS_SEEN),
            values={
                "running": JobStatus.RUNNING.value,
                "seen_order": stored.lane_order,
                "seen_expiry": format_timestamp(job.lease_expires_at),
            },
            sets={"lane_order": order(job.lease_expires_at, job.id)},
        )

    def _hold_attributes(self, job_id: str, queue: str, hold: Hold) -> Attributes:
        return {
            "status": JobStatus.RUNNING.value,
            "lane": self._lanes.of_running(job_id, queue),
            "lane_order": order(hold.expires_at, job_id),
            "lane_done": self._lanes.of_finished(job_id, queue, JobStatus.COMPLETED),
            "worker_id": hold.worker_id,
            "lease_token": hold.token,
            "lease_expires_at": format_timestamp(hold.expires_at),
            "claimed_at": format_timestamp(hold.now),
            "updated_at": format_timestamp(hold.now),
        }

    def _finish_attributes(self, job_id: str, status: JobStatus, now: datetime) -> Attributes:
        return {
            "status": status.value,
            "lane_order": order(now, job_id),
            "finished_at": format_timestamp(now),
            "updated_at": format_timestamp(now),
            "expires_at": math.ceil((now + self._retention).timestamp()),
        }

    def _requeue_attributes(self, job: Job, decision: Requeued, now: datetime) -> Attributes:
        return {
            "status": JobStatus.PENDING.value,
            "lane": self._lanes.of_pending(job),
            "lane_order": order(decision.available_at, job.id),
            "available_at": format_timestamp(decision.available_at),
            "retry_count": decision.retry_count,
            "updated_at": format_timestamp(now),
        }


def _failure(job: Job, failure: JobFailure) -> Attributes:
    kept = (*job.errors, failure)[-KEPT_FAILURES:]
    return {"error": failure.error, "errors": [failure_attribute(one) for one in kept]}


def _with_mark(stored: StoredJob, mark: str) -> list[str]:
    return [*stored.marks, mark][-KEPT_MARKS:]
