"""The jobs table: the only module that knows its keys, its index and its conditions.

Every write names what it expects to find. A write that finds something else comes back as `Refused`
with the item as it was, and the caller decides by that: a reply can be lost, so the SDK may repeat a
write that landed and be refused by its own success.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jobqueue.dynamodb import ConditionFailed, Update, faults, make_client, names
from jobqueue.errors import CorruptItem
from jobqueue.item import (
    Attributes,
    LaneEntry,
    StoredJob,
    Unreadable,
    failure_attribute,
    new_job_attributes,
    read_entry,
    read_job,
    to_item,
)
from jobqueue.job import FINISHED, Job, JobFailure, JobStatus, format_timestamp
from jobqueue.jobtype import JobTypes
from jobqueue.lanes import Lanes, order
from jobqueue.lifecycle import LEASE_GRACE, Decision, Ended, Requeued
from jobqueue.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDEX = "lanes"
KEPT_FAILURES = 5
KEPT_MARKS = 8
"""Complete appends its own without having read the others; no change follows that could need more."""

# Conditions. Each also implies that the item exists, but for the first.
IS_NEW = "attribute_not_exists(#id)"
# a finished job past its retention counts as absent, and TTL deletes late
IS_PAST_RETENTION = "(#status IN (:completed, :failed, :cancelled) AND #expires_at < :epoch)"
# the state, the place and the count of changes that were seen: nothing happened to the job since
IS_PENDING_AS_SEEN = "#status = :pending AND #lane_order = :seen_order AND #rev = :seen_rev"
IS_RUNNING = "#status = :running"
# `rev` begins anew where a keyed job takes the place of one past its retention; the time tells which it is
IS_UNCHANGED = "#status = :seen_status AND #rev = :seen_rev AND #created_at = :seen_created_at"
# the caller, and the very lease: the same worker may have lost the job and claimed it again
IS_HELD = "#status = :running AND #worker_id = :holder AND #lease_token = :token"
# a heartbeat does not touch `rev`, so the time itself is looked at
LEASE_IS_OVER = "#lease_expires_at <= :over"
LEASE_GROWS = "#lease_expires_at <= :lease_expires_at"
RETRIES_ARE_LEFT = "#retry_count < #max_retries"
CANCEL_IS_NOT_ASKED = "attribute_not_exists(#cancel_requested)"
STANDS_AS_SEEN = "#lane_order = :seen_order AND #lease_expires_at = :seen_expiry"

HOLDER_ATTRIBUTES = ("worker_id", "claimed_at", "lease_token", "lease_expires_at", "progress", "lane_done")


@dataclass(frozen=True, slots=True)
class Refused:
    """A conditional write did not find what it expected.

    Attributes
    ----------
    old : StoredJob or None
        The item as it was found; None where there is none.
    """

    old: StoredJob | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Who takes a job, until when, under which token."""

    worker_id: str
    token: str
    now: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePage:
    """Some entries of a lane, and where the lane goes on; None at its end.

    One bad entry must not keep the others from being claimed, so those that cannot be read stand apart.
    """

    entries: tuple[LaneEntry, ...]
    next: tuple[str, str] | None
    unreadable: tuple[Unreadable, ...] = ()


class JobsTable:
    """Reads and conditional writes of jobs.

    Parameters
    ----------
    client : DynamoDB client
        Its timeouts and retries are the caller's choice.
    name : str
        The table's name.
    job_types : JobTypes
        Tells over how many shards a queue is spread.
    retention : timedelta
        How long a finished job is kept.
    """

    def __init__(self, client: DynamoDBClient, name: str, job_types: JobTypes, retention: timedelta) -> None:
        self._client = client
        self._name = name
        self.lanes = Lanes(job_types)
        self._retention = retention

    def last_expired(self, now: datetime) -> datetime:
        """Return by when a job must have finished to be past its retention, as `expires_at` would tell."""
        # expires_at is the next whole second, and that second must be over
        return now.replace(microsecond=0) - timedelta(seconds=1) - self._retention

    def get(self, job_id: str, now: datetime) -> StoredJob | None:
        """Read a job, consistently; None if there is none or it is past its retention."""
        with faults():
            answer = self._client.get_item(TableName=self._name, Key=_key(job_id), ConsistentRead=True)
        item = answer.get("Item")
        stored = read_job(item) if item else None
        return None if stored is None or stored.is_past_retention(now) else stored

    def read_lane(
        self,
        lane: str,
        *,
        limit: int,
        start: tuple[str, str] | None = None,
        since: str | None = None,
        until: str | None = None,
        newest_first: bool = False,
    ) -> LanePage:
        """Read entries of a lane in its order; eventually consistent, as every index is.

        Parameters
        ----------
        lane : str
            One of `jobqueue.lanes`.
        limit : int
            The most entries to read.
        start : (lane_order, id) or None
            Go on after this entry.
        since, until : str or None
            Only entries whose order is after `since`, or up to `until`; not both.
        newest_first : bool
            Read backwards.
        """
        condition, values = "#lane = :lane", {":lane": lane}
        if until is not None:
            condition, values = f"{condition} AND #lane_order <= :until", {**values, ":until": until}
        if since is not None:
            condition, values = f"{condition} AND #lane_order > :since", {**values, ":since": since}
        request: dict[str, Any] = {}
        if start is not None:
            place, job_id = start
            request["ExclusiveStartKey"] = to_item({"lane": lane, "lane_order": place, "id": job_id})
        with faults():
            answer = self._client.query(
                TableName=self._name,
                IndexName=INDEX,
                KeyConditionExpression=condition,
                ExpressionAttributeNames=names(condition),
                ExpressionAttributeValues=to_item(values),
                Limit=limit,
                ScanIndexForward=not newest_first,
                **request,
            )
        last = answer.get("LastEvaluatedKey")
        entries, unreadable = _read_entries(answer["Items"])
        return LanePage(
            entries=entries,
            next=(last["lane_order"]["S"], last["id"]["S"]) if last else None,
            unreadable=unreadable,
        )

    def put(
        self, job: Job, *, now: datetime, fingerprint: str | None, enqueue_token: str | None
    ) -> StoredJob | Refused:
        """Put a new job; a keyed one also in the place of one that is past its retention."""
        place = order(job.available_at, job.id)
        attributes = {
            **new_job_attributes(job),
            "rev": 0,
            "lane": self.lanes.of_pending(job),
            "lane_order": place,
            "fingerprint": fingerprint,
            "enqueue_token": enqueue_token,
        }
        condition, values = IS_NEW, {}
        if enqueue_token is not None:
            condition = f"{IS_NEW} OR {IS_PAST_RETENTION}"
            values = {f":{status}": status.value for status in FINISHED} | {":epoch": int(now.timestamp())}
        request: dict[str, Any] = {"ExpressionAttributeValues": to_item(values)} if values else {}
        try:
            with faults():
                self._client.put_item(
                    TableName=self._name,
                    Item=to_item(attributes),
                    ConditionExpression=condition,
                    ExpressionAttributeNames=names(condition),
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **request,
                )
        except ConditionFailed as failed:
            return _refused(failed)
        return StoredJob(
            job=job, rev=0, fingerprint=fingerprint, enqueue_token=enqueue_token, lane_order=place
        )

    def claim(self, entry: LaneEntry, hold: Hold) -> StoredJob | Refused:
        """Take a pending job that stands as the index showed it."""
        return self._update(
            entry.summary.id,
            Update(
                conditions=(IS_PENDING_AS_SEEN,),
                values={
                    "pending": JobStatus.PENDING.value,
                    "seen_order": entry.lane_order,
                    "seen_rev": entry.rev,
                },
                sets=self._hold_attributes(entry.summary.id, entry.summary.queue, hold),
                counts=("rev",),
            ),
        )

    def take_over(self, stored: StoredJob, hold: Hold, failure: JobFailure) -> StoredJob | Refused:
        """Take a running job whose lease ran out, counting the lost lease as a failure."""
        job = stored.job
        return self._update(
            job.id,
            Update(
                conditions=(IS_UNCHANGED, LEASE_IS_OVER, RETRIES_ARE_LEFT, CANCEL_IS_NOT_ASKED),
                values=_as_seen(stored) | {"over": format_timestamp(hold.now - LEASE_GRACE)},
                sets=self._hold_attributes(job.id, job.queue, hold)
                | {"retry_count": job.retry_count + 1}
                | _failure(job, failure),
                removes=("progress",),
                counts=("rev",),
            ),
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
    ) -> StoredJob | Refused:
        """Move the end of a lease, never to an earlier time. Touches nothing that the index carries."""
        return self._update(
            job_id,
            Update(
                conditions=(IS_HELD, LEASE_GROWS),
                values=held_by(holder, token),
                sets={
                    "lease_expires_at": format_timestamp(expires_at),
                    "updated_at": format_timestamp(now),
                    "progress": progress,
                },
            ),
        )

    def note_progress(
        self, job_id: str, *, holder: str, token: str, now: datetime, progress: str
    ) -> StoredJob | Refused:
        """Store progress under a lease that already lasts longer than was asked."""
        return self._update(
            job_id,
            Update(
                conditions=(IS_HELD,),
                values=held_by(holder, token),
                sets={"progress": progress, "updated_at": format_timestamp(now)},
            ),
        )

    def complete(
        self, job_id: str, *, holder: str, token: str, now: datetime, result: str | bytes | None, mark: str
    ) -> StoredJob | Refused:
        """Finish a job without having read it: claim left the lane of completed jobs on the item."""
        return self._update(
            job_id,
            Update(
                conditions=(IS_HELD,),
                values=held_by(holder, token),
                sets=self._finish_attributes(job_id, JobStatus.COMPLETED, now) | {"result": result},
                copies={"lane": "lane_done"},
                removes=("lease_expires_at",),
                appends={"marks": mark},
                counts=("rev",),
            ),
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
    ) -> StoredJob | Refused:
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
            sets["lane"] = self.lanes.of_finished(job.id, job.queue, decision.status)
            removes: tuple[str, ...] = ("lease_expires_at",)
        else:
            sets = self._requeue_attributes(job, decision, now)
            removes = HOLDER_ATTRIBUTES
        if failure is not None:
            sets |= _failure(job, failure)
        if mark is not None:
            sets["marks"] = _with_mark(stored, mark)
        return self._update(
            job.id,
            Update(
                conditions=(IS_UNCHANGED, *only_if),
                values=_as_seen(stored) | dict(values or {}),
                sets=sets,
                removes=(*removes, *forget),
                counts=("rev",),
            ),
        )

    def ask_to_cancel(self, stored: StoredJob, *, now: datetime, mark: str) -> StoredJob | Refused:
        """Leave word for the holder of a running job."""
        return self._update(
            stored.job.id,
            Update(
                conditions=(IS_UNCHANGED,),
                values=_as_seen(stored),
                sets={
                    "cancel_requested": True,
                    "updated_at": format_timestamp(now),
                    "marks": _with_mark(stored, mark),
                },
                counts=("rev",),
            ),
        )

    def refile(self, stored: StoredJob) -> None:
        """Show the index the true end of a lease that a heartbeat has moved, if it shows another."""
        job = stored.job
        if job.lease_expires_at is None or stored.lane_order == order(job.lease_expires_at, job.id):
            return
        self._update(
            job.id,
            Update(
                conditions=(IS_RUNNING, STANDS_AS_SEEN),
                values={
                    "running": JobStatus.RUNNING.value,
                    "seen_order": stored.lane_order,
                    "seen_expiry": format_timestamp(job.lease_expires_at),
                },
                sets={"lane_order": order(job.lease_expires_at, job.id)},
            ),
        )

    def _hold_attributes(self, job_id: str, queue: str, hold: Hold) -> Attributes:
        return {
            "status": JobStatus.RUNNING.value,
            "lane": self.lanes.of_running(job_id, queue),
            "lane_order": order(hold.expires_at, job_id),
            "lane_done": self.lanes.of_finished(job_id, queue, JobStatus.COMPLETED),
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
            "lane": self.lanes.of_pending(job),
            "lane_order": order(decision.available_at, job.id),
            "available_at": format_timestamp(decision.available_at),
            "retry_count": decision.retry_count,
            "updated_at": format_timestamp(now),
        }

    def _update(self, job_id: str, update: Update) -> StoredJob | Refused:
        try:
            with faults():
                answer = self._client.update_item(TableName=self._name, Key=_key(job_id), **update.request())
        except ConditionFailed as failed:
            return _refused(failed)
        return read_job(answer["Attributes"])


def open_table(settings: Settings, job_types: JobTypes, *, client: DynamoDBClient | None = None) -> JobsTable:
    """Open the jobs table of a deployment; without a client, `dynamodb.make_client` makes one."""
    return JobsTable(
        client or make_client(),
        settings.jobs_table,
        job_types,
        timedelta(days=settings.retention_days),
    )


def held_by(holder: str, token: str) -> dict[str, Any]:
    """Return the values that `IS_HELD` compares with."""
    return {"running": JobStatus.RUNNING.value, "holder": holder, "token": token}


def _key(job_id: str) -> dict[str, Any]:
    return {"id": {"S": job_id}}


def _refused(failed: ConditionFailed) -> Refused:
    return Refused(read_job(failed.item) if failed.item else None)


def _read_entries(items: Sequence[Mapping[str, Any]]) -> tuple[tuple[LaneEntry, ...], tuple[Unreadable, ...]]:
    entries: list[LaneEntry] = []
    unreadable: list[Unreadable] = []
    for item in items:
        try:
            entries.append(read_entry(item))
        except CorruptItem:
            unreadable.append(Unreadable(item["id"]["S"]))
    return tuple(entries), tuple(unreadable)


def _as_seen(stored: StoredJob) -> dict[str, Any]:
    return {
        "seen_status": stored.job.status.value,
        "seen_rev": stored.rev,
        "seen_created_at": format_timestamp(stored.job.created_at),
    }


def _failure(job: Job, failure: JobFailure) -> Attributes:
    kept = (*job.errors, failure)[-KEPT_FAILURES:]
    return {"error": failure.error, "errors": [failure_attribute(one) for one in kept]}


def _with_mark(stored: StoredJob, mark: str) -> list[str]:
    return [*stored.marks, mark][-KEPT_MARKS:]
