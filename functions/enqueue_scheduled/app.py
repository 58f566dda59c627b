"""Enqueues the job that a schedule carries, once for each tick.

What cannot be enqueued fails the invocation, so that an alarm on this function's errors sees it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jobqueue import telemetry
from jobqueue.queue import JobQueue, open_queue
from jobqueue.scheduled import SCHEDULER, enqueue_tick, read_tick
from jobqueue.settings import Settings
from jobtypes import JOB_TYPES


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, str]:
    """Enqueue the job; answer its id."""
    telemetry.begin(request_id=context.aws_request_id, principal=SCHEDULER.id)
    tick = read_tick(event)
    enqueued = enqueue_tick(queue(), tick)
    outcome = "created" if enqueued.created else "known"
    telemetry.decision("enqueue_scheduled", outcome, enqueued.job, rule=tick.rule)
    return {"id": enqueued.job.id}


@cache
def queue() -> JobQueue:
    """Return the queue of the deployment, opened once in each process."""
    return open_queue(Settings.from_env(), JOB_TYPES)
