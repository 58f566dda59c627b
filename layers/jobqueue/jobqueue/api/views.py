"""Who sees what of a job. What a caller may not see is left out of the answer."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobqueue.job import Job, JobFailure, JobStatus, JobSummary, JsonObject, format_timestamp
from jobqueue.principal import Principal, Role
from jobqueue.queue import Lease

if TYPE_CHECKING:
    from jobqueue.operating import QueueState


def job_view(job: Job, caller: Principal) -> JsonObject:
    """Return what `caller` may see of a job whose queue it is granted.

    ==================  =======================================================
    member              beside admins, it is seen by
    ==================  =======================================================
    payload             the job's producer, and the worker that holds it
    result              the job's producer, and the worker that it is from
    idempotency_key     the job's producer
    error, errors       nobody
    lease_token         nobody, admins neither: see `claimed_view`
    ==================  =======================================================
    """
    is_admin = caller.role is Role.ADMIN
    is_owner = job.created_by == caller.id
    is_holder = job.worker_id == caller.id
    view = brief_view(job)
    if is_admin or is_owner or (is_holder and job.status is JobStatus.RUNNING):
        view["payload"] = job.payload
    if is_admin or is_owner or is_holder:
        view["result"] = job.result
    if is_admin or is_owner:
        view["idempotency_key"] = job.idempotency_key
    if is_admin:
        view["error"] = job.error
        view["errors"] = [_failure_view(failure) for failure in job.errors]
    return view


def claimed_view(job: Job, caller: Principal) -> JsonObject:
    """Return what the answer to a claim tells: the only one with the lease's token."""
    return {**job_view(job, caller), "lease_token": job.lease_token}


def brief_view(job: Job) -> JsonObject:
    """Return what everybody who is granted the queue may see; results of batches carry no more."""
    return {
        **summary_view(job),
        "updated_at": format_timestamp(job.updated_at),
        "lease_expires_at": _time(job.lease_expires_at),
        "cancel_requested": job.cancel_requested,
        "progress": job.progress,
    }


def summary_view(job: Job | JobSummary) -> JsonObject:
    """Return what a list shows of a job."""
    return {
        "id": job.id,
        "type": job.type,
        "queue": job.queue,
        "priority": job.priority.value,
        "status": job.status.value,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "available_at": format_timestamp(job.available_at),
        "created_by": job.created_by,
        "created_at": format_timestamp(job.created_at),
        "worker_id": job.worker_id,
        "claimed_at": _time(job.claimed_at),
        "finished_at": _time(job.finished_at),
    }


def lease_view(lease: Lease) -> JsonObject:
    """Return what the answer to a heartbeat tells."""
    return {
        "lease_expires_at": format_timestamp(lease.lease_expires_at),
        "cancel_requested": lease.cancel_requested,
    }


def queue_view(state: QueueState, now: datetime) -> JsonObject:
    """Return what everybody who is granted a queue may see of it."""
    since = state.oldest_ready_since
    return {
        "name": state.name,
        "paused": state.paused,
        "counts": {
            "pending": {priority.value: count for priority, count in state.waiting.items()},
            **{status.value: count for status, count in state.others.items()},
        },
        "oldest_pending_at": _time(since),
        "oldest_age_seconds": None if since is None else max(0, int((now - since).total_seconds())),
    }


def _failure_view(failure: JobFailure) -> dict[str, Any]:
    return {
        "error": failure.error,
        "failed_at": format_timestamp(failure.failed_at),
        "worker_id": failure.worker_id,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_timestamp(moment)
