"""Waiting for a job to finish."""

from __future__ import annotations

from .errors import Unavailable, WaitTimeout
from .jobs import Job
from .leases import path_of
from .retry import NO_RETRY
from .transport import Transport


def wait_until_finished(
    transport: Transport, job_id: str, timeout: float | None, interval: float, longest: float
) -> Job:
    """Poll the job; see `Client.wait`."""
    clock = transport.clock
    deadline = float("inf") if timeout is None else clock.monotonic() + timeout
    while True:
        # one attempt at a time, none of them much longer than what is left
        patience = min(transport.timeout, max(deadline - clock.monotonic(), 1.0))
        asked = 0.0
        try:
            answer = transport.with_options(timeout=patience, retry=NO_RETRY).send("GET", path_of(job_id))
            job = Job.from_json(answer.body)
            if job.is_finished:
                return job
        except Unavailable as error:
            asked = error.retry_after or 0.0
        remaining = deadline - clock.monotonic()
        if remaining <= 0:
            raise WaitTimeout(f"Job {job_id} did not finish within {timeout} seconds.")
        # half of the interval is jitter, so that many who wait do not ask in step
        pause = max(asked, interval * (0.5 + 0.5 * transport.random()))
        clock.sleep(min(pause, remaining))
        interval = min(interval * 1.5, longest)
