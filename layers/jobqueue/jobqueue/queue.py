"""JobQueue: everything that can be done with jobs, one method for each.

Whoever calls has been authenticated, and its role has been checked at the edge. What depends on data is
checked here: granted queues, the highest priority, whose job it is, who holds it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobqueue import newjob
from jobqueue.claiming import Claimer, Wish
from jobqueue.dynamodb import make_client
from jobqueue.errors import (
    FieldError,
    IdempotencyKeyReused,
    InvalidRequest,
    JobNotFound,
    PriorityNotAllowed,
    Unavailable,
)
from jobqueue.holding import Holding, Lease, require_range
from jobqueue.item import StoredJob
from jobqueue.job import Clock, Job, JobStatus, is_job_id, keyed_job_id, new_job_id, new_token, utc_now
from jobqueue.jobtype import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, JobTypes
from jobqueue.lifecycle import Backoff, Ended, Unchanged, after_cancel, after_retry
from jobqueue.listing import JobFilter, JobPage, Position, list_jobs
from jobqueue.marks import is_repeated, mark
from jobqueue.metrics import Metric, count, labels
from jobqueue.newjob import NewJob
from jobqueue.pauses import Pauses
from jobqueue.principal import Principal, Role
from jobqueue.queues import open_queues_table
from jobqueue.retries import Retries
from jobqueue.settings import Settings
from jobqueue.table import JobsTable, Refused, open_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["Enqueued", "JobFilter", "JobPage", "JobQueue", "Lease", "NewJob", "Position", "open_queue"]

_MOST_DECISIONS = 10
"""How often one call decides again because the job moved under it, before it gives up."""

_FORGOTTEN_BY_RETRY = ("finished_at", "expires_at", "cancel_requested", "error", "result")


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A job that was asked for: made now, or found under its idempotency key."""

    job: Job
    created: bool


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
        self._new_id = new_id
        self._new_token = new_token
        self._pauses = pauses
        self._retries = Retries(job_types, backoff, rng)
        self._claimer = Claimer(table, job_types, clock=clock, new_token=new_token, rng=rng)
        self._holding = Holding(table, job_types, self._retries, clock, redact_emails=redact_emails)

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
        now = self._clock()
        errors = newjob.new_job_errors(new, self._job_types, now)
        job_type = self._job_types.get(new.type)
        if errors or job_type is None:
            raise InvalidRequest(*errors)
        queue = new.queue or job_type.queue
        caller.require_queue(queue)
        if caller.role is Role.PRODUCER and new.priority.rank > caller.max_priority.rank:
            raise PriorityNotAllowed
        key = new.idempotency_key
        job = Job(
            id=self._new_id(now) if key is None else keyed_job_id(caller.id, key),
            type=new.type,
            queue=queue,
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
        if key is None:
            return self._put(job, now)
        return self._put_keyed(job, now, newjob.fingerprint(new, self._job_types))

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
        if unknown := self._unknown(wanted):
            raise InvalidRequest(*unknown)
        queues = self._queues(caller, None if wanted.queue is None else [wanted.queue])
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
        open_queues = self.open_queues(self._queues(caller, queues))
        if not open_queues:
            return ()
        wish = Wish(
            worker_id=caller.id,
            queues=open_queues,
            lease_seconds=lease_seconds,
        )
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
        wanted = mark("cancel", self._new_token())
        for _ in range(_MOST_DECISIONS):
            decision = after_cancel(stored.job)
            now = self._clock()
            if isinstance(decision, Unchanged):
                return stored.job
            if isinstance(decision, Ended):
                outcome = self._table.settle(stored, decision, now=now, mark=wanted)
            else:
                outcome = self._table.ask_to_cancel(stored, now=now, mark=wanted)
            if isinstance(outcome, StoredJob):
                return outcome.job
            stored = _moved(outcome)
            if is_repeated(wanted, stored.marks):
                return stored.job
        raise Unavailable

    def retry(self, caller: Principal, job_id: str) -> Job:
        """Give a failed or cancelled job a new life, with all its retries.

        Raises
        ------
        JobNotFound
            There is none, or the caller has no grant for its queue.
        JobNotRetryable
            It neither failed nor was cancelled.
        """
        stored = self._read(caller, job_id)
        wanted = mark("retry", self._new_token())
        for _ in range(_MOST_DECISIONS):
            now = self._clock()
            outcome = self._table.settle(
                stored,
                after_retry(stored.job, now),
                now=now,
                mark=wanted,
                forget=_FORGOTTEN_BY_RETRY,
            )
            if isinstance(outcome, StoredJob):
                return outcome.job
            stored = _moved(outcome)
            if is_repeated(wanted, stored.marks):
                return stored.job
        raise Unavailable

    def _put(self, job: Job, now: datetime) -> Enqueued:
        outcome = self._table.put(job, now=now, fingerprint=None, enqueue_token=None)
        # nobody else mints this id: whatever is there under it, this very write put there
        return Enqueued(job if isinstance(outcome, StoredJob) else _moved(outcome).job, created=True)

    def _put_keyed(self, job: Job, now: datetime, fingerprint: str) -> Enqueued:
        token = self._new_token()
        outcome = self._table.put(job, now=now, fingerprint=fingerprint, enqueue_token=token)
        if isinstance(outcome, StoredJob):
            return Enqueued(job, created=True)
        found = _moved(outcome)
        if found.enqueue_token == token:
            return Enqueued(found.job, created=True)
        if found.fingerprint != fingerprint:
            raise IdempotencyKeyReused
        count(Metric.REPLAYED, **labels(self._job_types, found.job.queue, found.job.type))
        return Enqueued(found.job, created=False)

    def _read(self, caller: Principal, job_id: str) -> StoredJob:
        stored = self._table.get(job_id, self._clock()) if is_job_id(job_id) else None
        if stored is None or not caller.may_use(stored.job.queue):
            raise JobNotFound
        return stored

    def _unknown(self, wanted: JobFilter) -> tuple[FieldError, ...]:
        errors: tuple[FieldError, ...] = ()
        if wanted.queue is not None and not self._job_types.has_queue(wanted.queue):
            errors += (FieldError("queue", "unknown_queue", "queue is not a declared queue"),)
        if wanted.type is not None and self._job_types.get(wanted.type) is None:
            errors += (FieldError("type", "unknown_type", "type is not a declared job type"),)
        return errors

    def _queues(self, caller: Principal, asked: Sequence[str] | None) -> tuple[str, ...]:
        if asked is None:
            return caller.granted(queue.name for queue in self._job_types.queues)
        unknown = [
            FieldError("queues", "unknown_queue", "queues names a queue that is not declared")
            for queue in asked
            if not self._job_types.has_queue(queue)
        ]
        if unknown:
            raise InvalidRequest(unknown[0])
        for queue in asked:
            caller.require_queue(queue)
        return tuple(dict.fromkeys(asked))


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
        pauses=Pauses(open_queues_table(settings, client=client), utc_now),
        redact_emails=settings.redact_emails,
    )


def _moved(refused: Refused) -> StoredJob:
    """Return the job as another call left it; it may have gone altogether."""
    if refused.old is None:
        raise JobNotFound
    return refused.old
