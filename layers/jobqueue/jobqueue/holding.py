"""What the holder of a job may do with it: complete it, fail it, keep it longer, give it back.

A job is held by a worker under a lease token. Where a caller sends no token, the one under which it holds
the job now is read first. A fleet that shares one credential must send it, or one process could finish
what another one holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobqueue import deciding
from jobqueue.conditions import IS_HELD, held_by
from jobqueue.errors import InvalidRequest, JobNotFound, JobNotHeld
from jobqueue.fielderrors import field_error
from jobqueue.item import StoredJob, pack, unpack
from jobqueue.job import Clock, Job, JobFailure, JobStatus, is_job_id
from jobqueue.jobtype import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, JobTypes
from jobqueue.jsontext import NotStorable, to_text
from jobqueue.lifecycle import MAX_RETRY_IN_SECONDS, Decision, after_release
from jobqueue.marks import is_repeated, mark
from jobqueue.newjob import MAX_DELAY_SECONDS
from jobqueue.retries import Retries
from jobqueue.table import JobsTable, Refused

MAX_RESULT_BYTES = 65_536
MAX_PROGRESS_BYTES = 1024
NO_ERROR_GIVEN = "failed without a message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """How long a job is held, and whether its holder should stop.

    Attributes
    ----------
    lease_expires_at : datetime
        When the lease runs out, in UTC.
    cancel_requested : bool
        Whether somebody asked to cancel the job.
    """

    lease_expires_at: datetime
    cancel_requested: bool


class Holding:
    """The calls of a job's holder.

    Every method raises `JobNotHeld` where the job is unknown, not running, or not held by `holder` under
    `lease_token`; `ReplayMismatch` where the same call was made before with another body; `Unavailable`
    where DynamoDB was busy.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    job_types : JobTypes
        Gives the leases.
    retries : Retries
        Decides what follows a failure.
    clock : Clock
        The time.
    redact_emails : bool
        Whether e-mail addresses are taken out of errors, beside secrets.
    """

    def __init__(
        self,
        table: JobsTable,
        job_types: JobTypes,
        retries: Retries,
        clock: Clock,
        *,
        redact_emails: bool = False,
    ) -> None:
        self._table = table
        self._job_types = job_types
        self._retries = retries
        self._clock = clock
        self._redact_emails = redact_emails

    def complete(self, holder: str, job_id: str, lease_token: str | None, result: Any) -> Job:
        """Finish the job with `result`, a JSON value of at most 65,536 bytes."""
        text = _json(result, "result", MAX_RESULT_BYTES)
        if lease_token is None:
            lease_token = _token(self._read(job_id), holder)
        # as it is stored: a handler's keys may be numbers, which are text only in JSON
        wanted = mark("complete", lease_token, [holder, None if text is None else unpack(text)])
        update = self._table.updates.complete(
            _well_formed(job_id),
            holder=holder,
            token=lease_token,
            now=self._clock(),
            result=None if text is None else pack(text),
            mark=wanted,
        )
        outcome = self._table.update(update)
        if isinstance(outcome, Refused):
            return _repeated(wanted, outcome.old).job
        return outcome.job

    def fail(
        self,
        holder: str,
        job_id: str,
        lease_token: str | None,
        *,
        error: str | None,
        retry_in_seconds: float | None,
        discard: bool,
    ) -> Job:
        """Record a failed attempt; the job is retried, fails, or is cancelled where that was asked."""
        # it compiles its patterns as it is imported, which who sees no error need not wait for
        from jobqueue.redact import clean_error

        if discard and retry_in_seconds is not None:
            raise InvalidRequest(field_error("discard", "conflict", "cannot go with retry_in_seconds"))
        require_range("retry_in_seconds", retry_in_seconds, 0, MAX_RETRY_IN_SECONDS)
        message = clean_error(error or "", emails=self._redact_emails) or NO_ERROR_GIVEN

        def decide(job: Job, now: datetime) -> Decision:
            return self._retries.after_failure(job, now, retry_in_seconds=retry_in_seconds, discard=discard)

        body = [holder, message, retry_in_seconds, discard]
        return self._give_up(
            holder, job_id, lease_token, operation="fail", body=body, decide=decide, error=message
        )

    def release(self, holder: str, job_id: str, lease_token: str | None, delay_seconds: float | None) -> Job:
        """Give the job back unfinished, uncounted: to its old place, or to a later one."""
        require_range("delay_seconds", delay_seconds, 0, MAX_DELAY_SECONDS)

        def decide(job: Job, now: datetime) -> Decision:
            return after_release(job, now, delay_seconds)

        body = [holder, delay_seconds]
        return self._give_up(holder, job_id, lease_token, operation="release", body=body, decide=decide)

    def extend(
        self, holder: str, job_id: str, lease_token: str | None, lease_seconds: int | None, progress: Any
    ) -> Lease:
        """Hold the job `lease_seconds` from now (None: as long as its type says), never shorter than before.

        `progress` is a JSON value of at most 1,024 bytes.
        """
        require_range("lease_seconds", lease_seconds, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)
        text = _json(progress, "progress", MAX_PROGRESS_BYTES)
        if lease_token is None or lease_seconds is None:
            held = self._read(job_id)
            lease_token = _token(held, holder) if lease_token is None else lease_token
            if not _is_held(held, holder, lease_token):
                raise JobNotHeld  # no later than for a job that is not there: time tells nothing either
            lease_seconds = lease_seconds or self._job_types.policy(held.job.type).lease_seconds
        now = self._clock()
        update = self._table.updates.extend(
            _well_formed(job_id),
            holder=holder,
            token=lease_token,
            now=now,
            expires_at=now + timedelta(seconds=lease_seconds),
            progress=text,
        )
        outcome = self._table.update(update)
        if isinstance(outcome, Refused) and text is not None and _is_held(outcome.old, holder, lease_token):
            update = self._table.updates.note_progress(
                job_id, holder=holder, token=lease_token, now=now, progress=text
            )
            outcome = self._table.update(update)
        stored = outcome.old if isinstance(outcome, Refused) else outcome
        if stored is None or not _is_held(stored, holder, lease_token) or stored.job.lease_expires_at is None:
            raise JobNotHeld
        return Lease(
            lease_expires_at=stored.job.lease_expires_at, cancel_requested=stored.job.cancel_requested
        )

    def _give_up(
        self,
        holder: str,
        job_id: str,
        lease_token: str | None,
        *,
        operation: str,
        body: Any,
        decide: Callable[[Job, datetime], Decision],
        error: str | None = None,
    ) -> Job:
        """End the holding of a job as `decide` says, deciding again when a cancel request comes between."""
        stored = self._read(job_id)
        token = _token(stored, holder) if lease_token is None else lease_token
        wanted = mark(operation, token, body)

        def answer(seen: StoredJob) -> StoredJob | None:
            return None if _is_held(seen, holder, token) else _repeated(wanted, seen)

        def write(seen: StoredJob) -> StoredJob | Refused:
            now = self._clock()
            update = self._table.updates.settle(
                seen,
                decide(seen.job, now),
                now=now,
                mark=wanted,
                failure=(None if error is None else JobFailure(error=error, failed_at=now, worker_id=holder)),
                only_if=(IS_HELD,),
                values=held_by(holder, token),
            )
            return self._table.update(update)

        try:
            return deciding.decide(stored, answer=answer, write=write).job
        except JobNotFound:
            raise JobNotHeld from None

    def _read(self, job_id: str) -> StoredJob:
        stored = self._table.get(_well_formed(job_id), self._clock())
        if stored is None:
            raise JobNotHeld
        return stored


def require_range(name: str, value: float | None, least: int, most: int) -> None:
    """Raise `InvalidRequest` if a number is given and is not one of `least` to `most`."""
    if value is not None and not least <= value <= most:  # worded such that NaN is refused
        raise InvalidRequest(field_error(name, "out_of_range", f"must be {least} to {most}"))


def _well_formed(job_id: str) -> str:
    """Return `job_id`, which the table may refuse as a key if it is not one."""
    if not is_job_id(job_id):
        raise JobNotHeld
    return job_id


def _token(stored: StoredJob, holder: str) -> str:
    """Return the token under which `holder` holds the job, or held it when it ended."""
    if stored.job.worker_id != holder or stored.job.lease_token is None:
        raise JobNotHeld
    return stored.job.lease_token


def _is_held(stored: StoredJob | None, holder: str, token: str | None) -> bool:
    return (
        stored is not None
        and stored.job.status is JobStatus.RUNNING
        and stored.job.worker_id == holder
        and stored.job.lease_token == token
    )


def _repeated(wanted: str, found: StoredJob | None) -> StoredJob:
    """Return the job if the call was carried out before, or raise `JobNotHeld`."""
    if found is None or not is_repeated(wanted, found.marks):
        raise JobNotHeld
    return found


def _json(value: Any, name: str, max_bytes: int) -> str | None:
    if value is None:
        return None
    try:
        return to_text(value, max_bytes=max_bytes)
    except NotStorable as error:
        raise InvalidRequest(field_error(name, error.code, str(error))) from None
