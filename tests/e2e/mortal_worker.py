"""A worker process that a test can kill: ``python -m tests.e2e.mortal_worker HANDLER OFFSET``.

It works the queue that no function of the stack works, with the runtime of work_jobs. Its clock is OFFSET
seconds ahead, so that no test waits for a lease to run out.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from datetime import timedelta

from jobqueue.job import Job, JobPriority, JsonObject, utc_now
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.lifecycle import Backoff
from jobqueue.principal import Principal, Role
from jobqueue.queue import JobQueue
from jobqueue.settings import Settings
from jobqueue.table import open_table
from jobqueue.worker import handles
from jobqueue.worker.handlers import Handlers
from jobqueue.worker.shift import Crew, Shift
from jobtypes.payloads import EmailPayload
from local.curl import QUEUE

TYPES = JobTypes(
    [JobType(name="email", payload="jobtypes.payloads:EmailPayload", queue=QUEUE)], [Queue(name=QUEUE)]
)
FUNCTION_SECONDS = 120.0


@handles("email")
def hang(job: Job, payload: EmailPayload) -> None:
    """Say that the job has begun, and wait to be killed."""
    _say(job.id)
    threading.Event().wait()


@handles("email")
def die(job: Job, payload: EmailPayload) -> None:
    """Take the process along."""
    _say(job.id)
    os._exit(1)


@handles("email")
def finish(job: Job, payload: EmailPayload) -> JsonObject:
    """Do the work."""
    _say(job.id)
    return {"sent": payload.to}


HANDLERS = {"hang": hang, "die": die, "finish": finish}


def main(handler: str, offset: str) -> None:
    """Work one shift."""
    ahead = timedelta(seconds=float(offset))
    settings = Settings.from_env()
    crew = Crew(
        queue=JobQueue(
            open_table(settings, TYPES),
            TYPES,
            backoff=Backoff(base_seconds=0, cap_seconds=0),
            clock=lambda: utc_now() + ahead,
            rng=random.Random(1),
        ),
        job_types=TYPES,
        handlers=Handlers([HANDLERS[handler]], TYPES, {QUEUE}),
        caller=Principal(
            id="internal:mortal_worker",
            role=Role.WORKER,
            queues=frozenset({QUEUE}),
            max_priority=JobPriority.LOW,
        ),
        queues=(QUEUE,),
        concurrency=2,
    )
    over_at = time.monotonic() + FUNCTION_SECONDS
    Shift(crew, lambda: over_at - time.monotonic()).work()


def _say(text: str) -> None:
    sys.stdout.write(f"begun {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
