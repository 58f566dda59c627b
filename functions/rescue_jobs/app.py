"""Gives the jobs of workers that went silent back to their queues, every minute."""

from __future__ import annotations

from functools import cache
from typing import Any

from jobqueue import telemetry
from jobqueue.item import Unreadable
from jobqueue.job import Job, JobSummary
from jobqueue.rescue import Found, Rescuer, open_rescuer
from jobqueue.settings import Settings
from jobtypes import JOB_TYPES

ACTION = "rescue_jobs"


def lambda_handler(_: dict[str, Any], context: Any) -> dict[str, int]:
    """Look once through all running jobs; answer how many became what."""
    telemetry.begin(request_id=context.aws_request_id)
    counts = {found.value: count for found, count in sorted(rescuer().run().items())}
    telemetry.decision(ACTION, "ok", **counts)
    return counts


@cache
def rescuer() -> Rescuer:
    """Return the rescuer of the deployment, opened once in each process."""
    return open_rescuer(Settings.from_env(), JOB_TYPES, on_found=tell)


def tell(found: Found, job: Job | JobSummary | Unreadable, error: Exception | None) -> None:
    """Log what became of one job."""
    about = {"job_id": job.id}
    if not isinstance(job, Unreadable):
        about |= {"job_type": job.type, "queue": job.queue}
    known = job if isinstance(job, Job) else None
    telemetry.decision(ACTION, found, known, **about, error_class=type(error).__name__ if error else None)
