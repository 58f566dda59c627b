"""What a job costs behind the API: the follower of the stream, which tells events and keeps counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jobqueue.announcing import EventBus
from jobqueue.following import Follower
from jobqueue.job import JsonObject
from jobqueue.queue import NewJob
from jobqueue.queues import QueuesTable
from tests.bench.life import ADMIN, JOB_TYPES, open_bench_queue
from tests.bench.meter import Meter
from tests.bench.prices import Usage
from tests.bench.usage import DATABASE, logged
from tests.support import dynamodb_local
from tests.support.office import QUEUES
from tests.support.streams import Stream

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = 50
"""Few enough for one page of the stream."""


class CountingBus:
    """Plays the client of EventBridge: takes everything, and counts.

    Attributes
    ----------
    calls, events : int
        So far.
    """

    def __init__(self) -> None:
        self.calls = self.events = 0

    def put_events(self, **asked: Any) -> dict[str, Any]:
        """Take entries."""
        self.calls += 1
        entries = asked["Entries"]
        self.events += len(entries)
        return {"Entries": [{"EventId": "taken"} for _ in entries]}


def followed(url: str, payload: JsonObject, *, together: int) -> Usage:
    """Measure what follows a job's life, and its deletion at the end of its retention.

    Parameters
    ----------
    url : str
        Of DynamoDB Local.
    payload : JSON object
        Of each job.
    together : int
        How many records of the stream come in one batch: one where little happens, up to 500 under load.
    """
    client = dynamodb_local.connect_anew(url, DATABASE)
    queue = open_bench_queue(client)
    for _ in range(JOBS):
        queue.enqueue(ADMIN, NewJob(type="bench", payload=payload))
        job = queue.claim(ADMIN)
        if job is None:
            raise RuntimeError("a job was enqueued and is not found")
        queue.complete(ADMIN, job.id, lease_token=job.lease_token)
        client.delete_item(TableName="jobs", Key={"id": {"S": job.id}})
    records, bus = _records(client), CountingBus()
    follower = Follower(QueuesTable(client, QUEUES), EventBus(cast(Any, bus), "jobqueue"), JOB_TYPES)
    batches = [some[first : first + together] for some in records for first in range(0, len(some), together)]
    with logged() as size, Meter(client).measure() as bill:
        for batch in batches:
            if follower.follow(batch) is not None:
                raise RuntimeError("a batch was not followed")
    bill.calls += bus.calls
    return Usage(
        bill=bill.per(JOBS),
        invocations=len(batches) / JOBS,
        log_bytes=size() / JOBS,
        events=bus.events / JOBS,
    )


def _records(client: DynamoDBClient) -> tuple[list[Any], list[Any]]:
    """Return what the stream tells of the lives, and of their deletions, which come days later."""
    records = Stream(client, "jobs").read()
    ends = [record for record in records if record["eventName"] == "REMOVE"]
    return [record for record in records if record not in ends], ends
