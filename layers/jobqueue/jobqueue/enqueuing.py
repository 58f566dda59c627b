"""How a job is put in its queue, once for each idempotency key of its caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from jobqueue import newjob
from jobqueue.errors import IdempotencyKeyReused, InvalidRequest, JobNotFound, PriorityNotAllowed
from jobqueue.item import StoredJob
from jobqueue.job import Clock, Job, JobStatus, keyed_job_id
from jobqueue.jobtype import JobType, JobTypes
from jobqueue.metrics import Metric, count, labels
from jobqueue.newjob import NewJob
from jobqueue.principal import Principal, Role
from jobqueue.table import JobsTable, Refused


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A job that was asked for: made now, or found under its idempotency key."""

    job: Job
    created: bool


class Enqueuer:
    """Makes jobs.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        The queues and types of the deployment.
    clock : Clock
        The time.
    new_id, new_token : callable
        Make job ids from the time, and tokens.
    """

    def __init__(
        self,
        table: JobsTable,
        job_types: JobTypes,
        *,
        clock: Clock,
        new_id: Callable[[datetime], str],
        new_token: Callable[[], str],
    ) -> None:
        self._table = table
        self._job_types = job_types
        self._clock = clock
        self._new_id = new_id
        self._new_token = new_token

    def enqueue(self, caller: Principal, new: NewJob, trace_id: str | None) -> Enqueued:
        """Put a job in its queue (see `JobQueue.enqueue`)."""
        now = self._clock()
        errors = newjob.new_job_errors(new, self._job_types, now)
        job_type = self._job_types.get(new.type)
        if errors or job_type is None:
            raise InvalidRequest(*errors)
        caller.require_queue(new.queue or job_type.queue)
        if caller.role is Role.PRODUCER and new.priority.rank > caller.max_priority.rank:
            raise PriorityNotAllowed
        job = self._job(caller, new, job_type, now, trace_id)
        if new.idempotency_key is None:
            return self._put(job, now)
        return self._put_keyed(job, now, newjob.fingerprint(new, self._job_types))

    def _job(
        self, caller: Principal, new: NewJob, job_type: JobType, now: datetime, trace_id: str | None
    ) -> Job:
        key = new.idempotency_key
        return Job(
            id=self._new_id(now) if key is None else keyed_job_id(caller.id, key),
            type=new.type,
            queue=new.queue or job_type.queue,
            payload=new.payload,
            priority=new.priority,
            status=JobStatus.PENDING,
            retry_count=0,
            max_retries=job_type.policy.max_retries if new.max_retries is None else new.max_retries,
            available_at=new.available_at(now),
            created_by=caller.id,
            created_at=now,
            updated_at=now,
            idempotency_key=key,
            trace_id=trace_id,
        )

    def _put(self, job: Job, now: datetime) -> Enqueued:
        outcome = self._table.put(job, now=now, fingerprint=None, enqueue_token=None)
        # nobody else mints this id: whatever is there under it, this very write put there
        return Enqueued(job if isinstance(outcome, StoredJob) else _found(outcome).job, created=True)

    def _put_keyed(self, job: Job, now: datetime, fingerprint: str) -> Enqueued:
        token = self._new_token()
        outcome = self._table.put(job, now=now, fingerprint=fingerprint, enqueue_token=token)
        if isinstance(outcome, StoredJob):
            return Enqueued(job, created=True)
        found = _found(outcome)
        if found.enqueue_token == token:
            return Enqueued(found.job, created=True)
        if found.fingerprint != fingerprint:
            raise IdempotencyKeyReused
        count(Metric.REPLAYED, **labels(self._job_types, found.job.queue, found.job.type))
        return Enqueued(found.job, created=False)


def _found(refused: Refused) -> StoredJob:
    """Return the job that stands in the way of a new one."""
    if refused.old is None:
        raise JobNotFound
    return refused.old
