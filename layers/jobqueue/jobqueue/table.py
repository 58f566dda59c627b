"""The jobs table: reads of a job, and writes that name what they expect to find.

A write that finds something else comes back as `Refused` with the item as it was, and the caller decides by
that: a reply can be lost, so the SDK may repeat a write that landed and be refused by its own success.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jobqueue.conditions import IS_NEW, IS_PAST_RETENTION
from jobqueue.dynamodb import ConditionFailed, Update, faults, make_client, names
from jobqueue.item import StoredJob, key, new_job_attributes, read_job, to_item
from jobqueue.job import FINISHED, Job
from jobqueue.jobtype import JobTypes
from jobqueue.laneindex import LaneIndex
from jobqueue.lanes import Lanes, order
from jobqueue.settings import Settings
from jobqueue.updates import Updates

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True)
class Refused:
    """A conditional write did not find what it expected.

    Attributes
    ----------
    old : StoredJob or None
        The item as it was found; None where there is none.
    """

    old: StoredJob | None


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

    Attributes
    ----------
    lanes : Lanes
        Names the lanes of this deployment.
    index : LaneIndex
        Reads them.
    updates : Updates
        Words what `update` carries out.
    """

    def __init__(self, client: DynamoDBClient, name: str, job_types: JobTypes, retention: timedelta) -> None:
        self._client = client
        self._name = name
        self._retention = retention
        self.lanes = Lanes(job_types)
        self.index = LaneIndex(client, name)
        self.updates = Updates(self.lanes, retention)

    def last_expired(self, now: datetime) -> datetime:
        """Return by when a job must have finished to be past its retention, as `expires_at` would tell."""
        # expires_at is the next whole second, and that second must be over
        return now.replace(microsecond=0) - timedelta(seconds=1) - self._retention

    def get(self, job_id: str, now: datetime) -> StoredJob | None:
        """Read a job, consistently; None if there is none or it is past its retention."""
        with faults():
            answer = self._client.get_item(
                TableName=self._name, Key=to_item(key(job_id)), ConsistentRead=True
            )
        item = answer.get("Item")
        stored = read_job(item) if item else None
        return None if stored is None or stored.is_past_retention(now) else stored

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

    def update(self, update: Update) -> StoredJob | Refused:
        """Carry out one of `updates`; return the job as it is then."""
        try:
            with faults():
                answer = self._client.update_item(TableName=self._name, **update.request())
        except ConditionFailed as failed:
            return _refused(failed)
        return read_job(answer["Attributes"])

    def refile(self, stored: StoredJob) -> None:
        """Show the index the true end of a lease that a heartbeat has moved, if it shows another."""
        if (update := self.updates.refile(stored)) is not None:
            self.update(update)


def open_table(settings: Settings, job_types: JobTypes, *, client: DynamoDBClient | None = None) -> JobsTable:
    """Open the jobs table of a deployment; without a client, `dynamodb.make_client` makes one."""
    return JobsTable(
        client or make_client(),
        settings.jobs_table,
        job_types,
        timedelta(days=settings.retention_days),
    )


def _refused(failed: ConditionFailed) -> Refused:
    return Refused(read_job(failed.item) if failed.item else None)
