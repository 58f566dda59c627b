"""JobQueue: everything that can be done with jobs, one method for each.

Whoever calls has been authenticated, and its role has been checked at the edge. What depends on data is
checked here: granted queues, the highest priority, whose job it is, who holds it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobqueue.claiming import Claimer
from jobqueue.declared import asked_queues, queue_errors, type_errors
from jobqueue.dynamodb import make_client
from jobqueue.enqueuing import Enqueued, Enqueuer
from jobqueue.errors import InvalidRequest, JobNotFound
from jobqueue.holding import Holding, Lease, require_range
from jobqueue.item import StoredJob
from jobqueue.job import Clock, Job, is_job_id, new_job_id, new_token, utc_now
from jobqueue.jobtype import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, JobTypes
from jobqueue.lifecycle import Backoff
from jobqueue.listing import JobFilter, JobPage, Position, list_jobs
from jobqueue.newjob import NewJob
from jobqueue.pauses import Pauses
from jobqueue.principal import Principal, Role
from jobqueue.queues import open_queues_table
from jobqueue.retries import Retries
from jobqueue.settings import Settings
from jobqueue.steering import Steering
from jobqueue.table import JobsTable, open_table
from jobqueue.taking import Wish

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["Enqueued", "JobFilter", "JobPage", "JobQueue", "Lease", "NewJob", "Position", "open_queue"]


class JobQueue:
    """The use cases of the job queue.

    Every method may raise `Unavailable` where DynamoDB was busy or out of reach; repeating the call is
    then safe.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        The queues and types of the deployment.
    backoff : Backoff
        The backoff of types that declare none.
    clock : Clock
        The time.
    new_id, new_token : callable
        Make job ids from the time, and tokens.
    rng : random.Random
        Jitter, and the spread of claimers.
    pauses : Pauses or None
        Tells which queues hand out no jobs; None: all do.
    redact_emails : bool
        Whether e-mail addresses are taken out of errors, beside secrets.
    """

    def __init__(
        self,
        table: JobsTable,
        job_types: JobTypes,
        *,
        backoff: Backoff,
        clock: Clock = utc_now,
        new_id: Callable[[datetime], str] = new_job_id,
        new_token: Callable[[], str] = new_token,
        rng: random.Random | None = None,
        pauses: Pauses | None = None,
        redact_emails: bool = False,
    ) -> None:
        rng = rng or random.SystemRandom()
        self._table = table
        self._job_types = job_types
        self._clock = clock
        self._pauses = pauses
        self._enqueuer = Enqueuer(table, job_types, clock=clock, new_id=new_id, new_token=new_token)
        self._claimer = Claimer(table, job_types, clock=clock, new_token=new_token, rng=rng)
        retries = Retries(job_types, backoff, rng)
        self._holding = Holding(table, job_types, retries, clock, redact_emails=redact_emails)
        self._steering = Steering(table, clock, new_token)

    def enqueue(self, caller: Principal, new: NewJob, *, trace_id: str | None = None) -> Enqueued:
        """Put a job in its queue, once for each idempotency key of the caller.

        Parameters
        ----------
        caller : Principal
            Becomes the job's `created_by`.
        new : NewJob
            What is asked for.
        trace_id : str or None
            The trace of the request, to travel with the job.

        Raises
        ------
        InvalidRequest
            A field breaks a rule; all of them are named.
        QueueNotAllowed, PriorityNotAllowed
            The caller may not use that queue, or that priority.
        IdempotencyKeyReused
            The key was used for something else.
        """
        return self._enqueuer.enqueue(caller, new, trace_id)

    def get(self, caller: Principal, job_id: str) -> Job:
        """Return a job as it is now.

        Raises
        ------
        JobNotFound
            There is none, or the caller has no grant for its queue.
        """
        return self._read(caller, job_id).job

    def list(
        self, caller: Principal, wanted: JobFilter, *, limit: int, after: Position | None = None
    ) -> JobPage:
        """Return up to `limit` jobs of the caller's queues, after the position `after`.

        A page may be short, or empty, and still say where the list goes on.

        Raises
        ------
        InvalidRequest
            The queue or the type is not declared.
        QueueNotAllowed
            The caller has no grant for the queue.
        InvalidCursor
            `after` is no place in this list.
        """
        unknown = (*queue_errors(wanted.queue, self._job_types), *type_errors(wanted.type, self._job_types))
        if unknown:
            raise InvalidRequest(*unknown)
        queues = asked_queues(caller, None if wanted.queue is None else [wanted.queue], self._job_types)
        return list_jobs(self._table, queues, wanted, limit=limit, after=after, now=self._clock())

    def claim(
        self,
        caller: Principal,
        *,
        queues: Sequence[str] | None = None,
        lease_seconds: int | None = None,
    ) -> Job | None:
        """Take the most urgent, oldest job of `queues` (None: all that are granted); None if there is none.

        Parameters
        ----------
        caller : Principal
            Becomes the job's `worker_id`.
        queues : sequence of str or None
            Where to look.
        lease_seconds : int or None
            How long to hold the job; None takes its type's.

        Raises
        ------
        InvalidRequest
            A queue is not declared, or the lease is not one of 5 s to 12 h.
        QueueNotAllowed
            The caller has no grant for one.
        """
        jobs = self.claim_batch(caller, 1, queues=queues, lease_seconds=lease_seconds)
        return jobs[0] if jobs else None

    def claim_batch(
        self,
        caller: Principal,
        max_jobs: int,
        *,
        queues: Sequence[str] | None = None,
        lease_seconds: int | None = None,
    ) -> tuple[Job, ...]:
        """Take up to `max_jobs` jobs from one look at the lanes (see `claim`)."""
        require_range("lease_seconds", lease_seconds, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)
        open_queues = self.open_queues(asked_queues(caller, queues, self._job_types))
        if not open_queues:
            return ()
        wish = Wish(worker_id=caller.id, queues=open_queues, lease_seconds=lease_seconds)
        return tuple(self._claimer.claim(wish, max_jobs))

    def open_queues(self, queues: Sequence[str]) -> tuple[str, ...]:
        """Return those of `queues` that are not paused, as of ten seconds ago at the earliest."""
        return tuple(queues) if self._pauses is None else self._pauses.open(queues)

    def complete(
        self, caller: Principal, job_id: str, *, lease_token: str | None = None, result: Any = None
    ) -> Job:
        """Finish a job that the caller holds (see `Holding`)."""
        return self._holding.complete(caller.id, job_id, lease_token, result)

    def fail(
        self,
        caller: Principal,
        job_id: str,
        *,
        lease_token: str | None = None,
        error: str | None = None,
        retry_in_seconds: float | None = None,
        discard: bool = False,
    ) -> Job:
        """Record that an attempt failed (see `Holding`)."""
        return self._holding.fail(
            caller.id,
            job_id,
            lease_token,
            error=error,
            retry_in_seconds=retry_in_seconds,
            discard=discard,
        )

    def extend(
        self,
        caller: Principal,
        job_id: str,
        *,
        lease_token: str | None = None,
        lease_seconds: int | None = None,
        progress: Any = None,
    ) -> Lease:
        """Hold a job longer (see `Holding`)."""
        return self._holding.extend(caller.id, job_id, lease_token, lease_seconds, progress)

    def release(
        self,
        caller: Principal,
        job_id: str,
        *,
        lease_token: str | None = None,
        delay_seconds: float | None = None,
    ) -> Job:
        """Give a job back unfinished (see `Holding`)."""
        return self._holding.release(caller.id, job_id, lease_token, delay_seconds)

    def cancel(self, caller: Principal, job_id: str) -> Job:
        """Cancel a waiting job, or ask the holder of a running one to stop.

        Raises
        ------
        JobNotFound
            There is none, or it is neither the caller's own nor is the caller an admin.
        JobNotCancellable
            It completed or failed.
        """
        stored = self._read(caller, job_id)
        if caller.role is not Role.ADMIN and stored.job.created_by != caller.id:
            raise JobNotFound
        return self._steering.cancel(stored)

    def retry(self, caller: Principal, job_id: str) -> Job:
        """Give a failed or cancelled job a new life, with all its retries.

        Raises
        ------
        JobNotFound
            There is none, or the caller has no grant for its queue.
        JobNotRetryable
            It neither failed nor was cancelled.
        """
        return self._steering.retry(self._read(caller, job_id))

    def _read(self, caller: Principal, job_id: str) -> StoredJob:
        stored = self._table.get(job_id, self._clock()) if is_job_id(job_id) else None
        if stored is None or not caller.may_use(stored.job.queue):
            raise JobNotFound
        return stored


def open_queue(settings: Settings, job_types: JobTypes, *, client: DynamoDBClient | None = None) -> JobQueue:
    """Open the queue of a deployment.

    Parameters
    ----------
    settings : Settings
        The environment.
    job_types : JobTypes
        The queues and types of the deployment.
    client : DynamoDB client or None
        None makes one, with the timeouts and retries of `dynamodb.make_client`.
    """
    client = client or make_client()
    return JobQueue(
        open_table(settings, job_types, client=client),
        job_types,
        backoff=Backoff(base_seconds=settings.backoff_base_seconds, cap_seconds=settings.backoff_cap_seconds),
        pauses=Pauses(
            open_queues_table(settings, client=client), utc_now, (queue.name for queue in job_types.queues)
        ),
        redact_emails=settings.redact_emails,
    )
