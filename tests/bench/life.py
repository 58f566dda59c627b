"""What a job costs at DynamoDB: each operation, and a whole life, ours beside the sample's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from jobqueue.job import Job, JsonObject
from jobqueue.jobtype import JobType, JobTypes, Policy
from jobqueue.lifecycle import Backoff
from jobqueue.queue import JobQueue, NewJob
from jobqueue.table import JobsTable
from tests.bench.baseline import SampleQueue
from tests.bench.meter import Bill, Meter
from tests.support.callers import admin
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = 20
WAITING = 300
"""Jobs that wait before those of the sample, which reads up to 250 of them to find one."""

ADMIN = admin("bench")


class AnyPayload(BaseModel):
    """A payload of any members."""

    model_config = ConfigDict(extra="allow")


JOB_TYPES = JobTypes(
    [
        JobType(
            name="bench",
            payload=f"{__name__}:AnyPayload",
            # no lease runs out while claimers empty a lane on a slow machine
            policy=Policy(lease_seconds=3600, backoff_base_seconds=0, backoff_cap_seconds=0),
        )
    ]
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The bill of one operation, for one job."""

    operation: str
    bill: Bill


def open_bench_queue(client: DynamoDBClient) -> JobQueue:
    """Open a queue on new tables."""
    table = JobsTable(client, create_tables(client)["JobsTable"], JOB_TYPES, timedelta(days=7))
    return JobQueue(table, JOB_TYPES, backoff=Backoff(base_seconds=5, cap_seconds=900))


def our_life(client: DynamoDBClient, payload: JsonObject) -> list[Cost]:
    """Measure each operation on jobs with `payload`. The first three are a whole life."""
    queue, meter = open_bench_queue(client), Meter(client)
    measured = _Measured(meter)

    def claim() -> Job:
        job = queue.claim(ADMIN)
        if job is None:
            raise RuntimeError("a job was enqueued and is not found")
        return job

    def enqueue() -> Job:
        return queue.enqueue(ADMIN, NewJob(type="bench", payload=payload)).job

    for _ in range(JOBS):
        measured("enqueue", enqueue)
        job = measured("claim", claim)
        held: Any = {"lease_token": job.lease_token}
        measured("complete", queue.complete, ADMIN, job.id, **held)
        measured("get", queue.get, ADMIN, job.id)
    for _ in range(JOBS):
        enqueue()
        job = claim()
        held = {"lease_token": job.lease_token}
        measured("heartbeat", queue.extend, ADMIN, job.id, lease_seconds=7200, **held)
        measured("release", queue.release, ADMIN, job.id, **held)
        job = claim()
        measured("cancel, running", queue.cancel, ADMIN, job.id)
        queue.fail(ADMIN, job.id, error="asked to cancel")
        measured("retry", queue.retry, ADMIN, job.id)
        job = claim()
        held = {"lease_token": job.lease_token}
        measured("fail", queue.fail, ADMIN, job.id, error="timed out after 30 s", **held)
        measured("cancel, waiting", queue.cancel, ADMIN, job.id)
    return measured.costs()


def sample_life(client: DynamoDBClient, payload: JsonObject) -> list[Cost]:
    """Measure the sample's enqueue, peek and remove on jobs with `payload`."""
    queue, measured = SampleQueue(client), _Measured(Meter(client))
    text = json.dumps(payload)
    for number in range(WAITING):
        queue.enqueue(f"waiting-{number}", text)
    for number in range(JOBS):
        job_id = f"job-{number}"
        measured("enqueue", queue.enqueue, job_id, text)
        measured("claim", queue.peek)
        measured("complete", queue.remove, job_id)
    return measured.costs()


class _Measured:
    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._bills: dict[str, tuple[Bill, int]] = {}

    def __call__(self, operation: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        with self._meter.measure() as bill:
            outcome = call(*args, **options)
        total, times = self._bills.get(operation, (Bill(), 0))
        self._bills[operation] = (total + bill, times + 1)
        return outcome

    def costs(self) -> list[Cost]:
        return [Cost(operation, total.per(times)) for operation, (total, times) in self._bills.items()]


def whole_life(costs: list[Cost]) -> Bill:
    """Add up enqueue, claim and complete."""
    return sum((cost.bill for cost in costs if cost.operation in _LIFE), Bill())


_LIFE = frozenset({"enqueue", "claim", "complete"})
