"""Works jobs: calls the handler of each, as many side by side as WORKER_CONCURRENCY says.

Started by the table's stream when a job becomes ready, every minute by a schedule, and by itself under a
backlog. The handlers are in the folder beside this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jobqueue.worker.function import LambdaContext, WorkJobs
from jobtypes import JOB_TYPES

# Lambda imports this file as `app` from its own folder, the tests as `functions.work_jobs.app`
HANDLERS = f"{__package__}.handlers" if __package__ else "handlers"

work_jobs = WorkJobs(HANDLERS, Path(__file__).with_name("handlers"), JOB_TYPES)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Work until no job is left or time is short; answer how many jobs ended in which way."""
    return work_jobs(event, context)
