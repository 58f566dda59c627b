"""A job as tests of the rules need one."""

from __future__ import annotations

from typing import Any

from jobqueue.job import Job, JobPriority, JobStatus
from tests.support.clock import START

JOB_ID = "job_01ARYZ6S410123456789ABCDEF"


def a_job(**fields: Any) -> Job:
    """Return a job that was just enqueued, but for `fields`."""
    job = Job(
        id=JOB_ID,
        type="note",
        queue="default",
        payload={},
        priority=JobPriority.LOW,
        status=JobStatus.PENDING,
        retry_count=0,
        max_retries=3,
        available_at=START,
        created_by="key:shop",
        created_at=START,
        updated_at=START,
    )
    return job.evolve(**fields)
