"""What a queue of jobs is, without a table: the state diagram, with its times and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobqueue.job import JobPriority, JobStatus
from jobqueue.lifecycle import LEASE_GRACE
from jobqueue.pauses import KNOWN_FOR
from tests.support.workshop import RETENTION

PENDING, RUNNING, COMPLETED, FAILED, CANCELLED = JobStatus


@dataclass(slots=True, kw_only=True)
class ModelJob:
    """One job."""

    id: str
    priority: JobPriority
    max_retries: int
    available_at: datetime
    status: JobStatus = PENDING
    retry_count: int = 0
    cancel_requested: bool = False
    worker_id: str | None = None
    lease_token: str | None = None
    lease_expires_at: datetime | None = None
    progress: Any = None
    finished_at: datetime | None = None
    was_extended: bool = False

    def claimed(self, worker: str, token: str, expires_at: datetime) -> None:
        """pending ──▶ running"""
        self.status, self.worker_id, self.lease_token = RUNNING, worker, token
        self.lease_expires_at, self.was_extended = expires_at, False

    def taken_over(self, worker: str, token: str, expires_at: datetime) -> None:
        """running ──▶ running, under another lease; the lost one was a failure"""
        self.retry_count += 1
        self.progress = None
        self.claimed(worker, token, expires_at)

    def extended(self, expires_at: datetime, progress: Any) -> None:
        """running, and for longer; with news of its progress, or with what was told before"""
        assert self.lease_expires_at is not None
        self.lease_expires_at, self.was_extended = max(self.lease_expires_at, expires_at), True
        self.progress = progress or self.progress

    def completed(self, now: datetime) -> None:
        """running ──▶ completed"""
        self._finished(COMPLETED, now)

    def failed(self, now: datetime, wait: timedelta = timedelta(0), *, discard: bool = False) -> None:
        """running ──▶ pending, while retries are left; else failed, or cancelled where that was asked"""
        if self.cancel_requested:
            self._finished(CANCELLED, now)
        elif discard or self.retry_count == self.max_retries:
            self._finished(FAILED, now)
        else:
            self.retry_count += 1
            self._waits(now + wait)

    def released(self, now: datetime, delay: timedelta) -> None:
        """running ──▶ pending, at its place or later; or cancelled where that was asked"""
        if self.cancel_requested:
            self._finished(CANCELLED, now)
        else:
            self._waits(max(self.available_at, now + delay) if delay else self.available_at)

    def cancelled(self, now: datetime) -> None:
        """pending ──▶ cancelled; a running job is asked to stop"""
        if self.status is PENDING:
            self._finished(CANCELLED, now)
        elif self.status is RUNNING:
            self.cancel_requested = True

    def retried(self, now: datetime) -> None:
        """failed, cancelled ──▶ pending"""
        self.retry_count, self.cancel_requested, self.finished_at = 0, False, None
        self._waits(now)

    def is_held(self, worker: str, token: str | None) -> bool:
        return self.status is RUNNING and token is not None and self.token_of(worker) == token

    def token_of(self, worker: str) -> str | None:
        """Return the lease under which a worker holds the job, or held it when it ended."""
        return self.lease_token if self.worker_id == worker else None

    def is_over(self, now: datetime) -> bool:
        """Tell whether its lease ran out, and the grace with it."""
        return self.lease_expires_at is not None and self.lease_expires_at + LEASE_GRACE <= now

    def is_kept(self, now: datetime) -> bool:
        return self.finished_at is None or self.finished_at + RETENTION >= now

    def _waits(self, available_at: datetime) -> None:
        self.status, self.available_at = PENDING, available_at
        self.worker_id = self.lease_token = self.lease_expires_at = self.progress = None

    def _finished(self, status: JobStatus, now: datetime) -> None:
        self.status, self.finished_at, self.lease_expires_at = status, now, None


@dataclass(slots=True)
class Model:
    """All jobs, by id; and whether their queue is paused, as it is and as claimers know it."""

    jobs: dict[str, ModelJob] = field(default_factory=dict)
    paused: bool = False
    known_as_paused: bool = False
    looked_at: datetime | None = None

    def hands_out(self, now: datetime) -> bool:
        """Tell whether jobs are handed out: by a look that is not ten seconds old."""
        if self.looked_at is None or now >= self.looked_at + KNOWN_FOR:
            self.looked_at, self.known_as_paused = now, self.paused
        return not self.known_as_paused

    def finished_as(self, status: JobStatus, now: datetime) -> list[ModelJob]:
        """Return the jobs that ended so and are kept, the oldest first."""
        kept = [job for job in self.jobs.values() if job.status is status and job.is_kept(now)]
        return sorted(kept, key=lambda job: (job.finished_at, job.id))

    def next(self, now: datetime) -> ModelJob | None:
        """Return what is claimed now: the most urgent job, and of these the oldest."""
        due = [job for job in self.jobs.values() if job.status is PENDING and job.available_at <= now]
        return min(due, key=lambda job: (-job.priority.rank, job.available_at, job.id), default=None)

    def may_be_taken_over(self, now: datetime) -> set[str]:
        return {
            job.id
            for job in self.jobs.values()
            if job.status is RUNNING
            and job.is_over(now)
            and job.retry_count < job.max_retries
            and not job.cancel_requested
        }

    def in_vain(self) -> int:
        """Return how many jobs a claim may read in vain before it comes to one that it may take over."""
        return sum(
            job.status is RUNNING and (job.was_extended or job.cancel_requested) for job in self.jobs.values()
        )

    def rescued(self, now: datetime) -> None:
        """A lease that ran out is a failure."""
        for job in self.jobs.values():
            if job.status is RUNNING and job.is_over(now):
                job.failed(now)
