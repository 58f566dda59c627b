"""A job queue on tables of its own, with its time, its ids and its chance in a test's hands."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer

from jobqueue.item import to_item
from jobqueue.job import Job, JobPriority
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from jobqueue.lifecycle import Backoff
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue, NewJob
from jobqueue.rescue import Found, Rescuer
from jobqueue.retries import Retries
from jobqueue.table import JobsTable
from tests.support.botofaults import Fault, Faults
from tests.support.callers import admin, producer, worker
from tests.support.clock import FakeClock
from tests.support.faults import counted, lost_reply

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = "jobs"
RETENTION = timedelta(days=7)
BACKOFF = Backoff(base_seconds=5, cap_seconds=900)
LEASE_SECONDS = 60
NOTE = "tests.support.payloads:Note"
JOB_TYPES = JobTypes(
    queues=[Queue(name="bulk")],
    types=[
        JobType(name="note", payload=NOTE),
        JobType(name="patient", payload=NOTE, policy=Policy(lease_seconds=600, max_retries=1)),
        JobType(name="eager", payload=NOTE, policy=Policy(backoff_base_seconds=0)),
    ],
)

SHOP = producer("shop", max_priority=JobPriority.CRITICAL)
STORE = producer("store")
MAILER = worker("mailer")
PRINTER = worker("printer")
OPS = admin("ops")

_deserialize = TypeDeserializer().deserialize


def ids(jobs: Iterable[Job]) -> list[str]:
    """Return the ids of jobs, in their order."""
    return [job.id for job in jobs]


class Workshop:
    """The queue and its rescuer over one table, as they are put together in a deployment.

    Parameters
    ----------
    client : DynamoDB client
        Of an engine that has the tables of template.yaml, empty.
    job_types : JobTypes
        What the deployment declares.
    """

    def __init__(self, client: DynamoDBClient, job_types: JobTypes = JOB_TYPES) -> None:
        self.client = client
        self.clock = FakeClock()
        self._ids = itertools.count(1)
        self._tokens = itertools.count(1)
        self.deploy(job_types)

    def deploy(self, job_types: JobTypes) -> None:
        """Put the queue together, anew if there was one, from other declarations."""
        self.queue = self.another_queue(job_types)
        self.found: list[tuple[Found, str]] = []
        self.rescuer = Rescuer(
            self.table(job_types),
            job_types,
            Retries(job_types, BACKOFF, random.Random(2)),
            clock=self.clock,
            on_found=lambda found, job, _: self.found.append((found, job.id)),
        )

    def another_queue(self, job_types: JobTypes = JOB_TYPES, **options: Any) -> JobQueue:
        """Make another queue on the same table, as another process has it."""
        return JobQueue(
            self.table(job_types),
            job_types,
            backoff=BACKOFF,
            clock=self.clock,
            new_id=lambda _: f"job_{next(self._ids):026d}",  # so that equal times keep the order
            new_token=lambda: f"token-{next(self._tokens)}",
            rng=random.Random(1),
            **options,
        )

    def table(self, job_types: JobTypes = JOB_TYPES) -> JobsTable:
        return JobsTable(self.client, JOBS, job_types, RETENTION)

    def enqueue(self, caller: Principal = SHOP, **fields: Any) -> Job:
        return self.queue.enqueue(caller, NewJob(**{"type": "note", **fields})).job

    def claim(self, caller: Principal = MAILER, **fields: Any) -> Job:
        """Claim a job; there must be one."""
        job = self.queue.claim(caller, **fields)
        assert job is not None
        return job

    def running(self, **fields: Any) -> Job:
        """Enqueue a job and claim it."""
        enqueued = self.enqueue(**fields)
        job = self.claim()
        assert job.id == enqueued.id
        return job

    def get(self, job_id: str) -> Job:
        return self.queue.get(OPS, job_id)

    def lose_lease(self) -> None:
        """Let so much time pass that a lease that was just given is over, with its grace."""
        self.clock.advance(LEASE_SECONDS + 5)

    def item(self, job_id: str) -> dict[str, Any]:
        """Return what is stored of a job, as plain values by attribute."""
        answer = self.client.get_item(TableName=JOBS, Key={"id": {"S": job_id}}, ConsistentRead=True)
        return {name: _plain(_deserialize(value)) for name, value in answer["Item"].items()}

    def ids(self) -> set[str]:
        """Return the ids of all that is stored."""
        return {item["id"]["S"] for item in self.client.scan(TableName=JOBS)["Items"]}

    def spoil(self, job_id: str, **attributes: Any) -> None:
        """Overwrite attributes of a stored job behind the queue's back."""
        names = {f"#{name}": name for name in attributes}
        values = to_item({f":{name}": value for name, value in attributes.items()})
        self.client.update_item(
            TableName=JOBS,
            Key={"id": {"S": job_id}},
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )

    def calls(self) -> AbstractContextManager[Counter[str]]:
        """Count what is sent to DynamoDB inside the block, by operation: what the SDK sends again, too."""
        return counted(self.client)

    @contextmanager
    def just_before(self, operation: str, *actions: Callable[[], object]) -> Iterator[None]:
        """Do something right before requests of a kind are sent: the first action before the first one.

        A request that the SDK sends again counts once more. What the actions themselves ask DynamoDB for
        is let through as it is.
        """
        left = list(actions)
        acting = False

        def act(wanted: str, _: object) -> None:
            nonlocal acting
            if wanted == operation and left and not acting:
                acting = True
                try:
                    left.pop(0)()
                finally:
                    acting = False

        with Faults.of(self.client).watched(act):
            yield
        assert not left, f"too few times {operation} was sent"

    def lost_reply(self, operation: str) -> AbstractContextManager[None]:
        """Lose the first reply to a request of a kind, so that the SDK sends again what has landed."""
        return lost_reply(self.client, operation)

    @contextmanager
    def down(self, operation: str, *, after: int = 0) -> Iterator[None]:
        """Let every request of a kind fail in the block, but for the first ones."""
        with Faults.of(self.client).on(operation, Fault.UNREACHED, times=None, after=after):
            yield


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value
