"""A worker of the client in a process of its own: ``python -m tests.e2e.client_worker FOLDER SECONDS``.

Its handler takes a random time of SECONDS on average. Every attempt has a token of its own, which becomes
the job's result. FOLDER tells afterwards, in files named ``{job}.{token}``, which attempts were begun, and
which of them the API has taken as the end of their jobs.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import sys
from pathlib import Path

import httpx

from jobqueue_client import Client, JobContext, Worker
from local.curl import QUEUE

BEGUN, TAKEN = "begun", "taken"
LEASE_SECONDS = 5  # the shortest


class Witness(httpx.HTTPTransport):
    """Notes what the API has taken, as soon as its answer is there."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        answer = super().handle_request(request)
        *_, job_id, verb = request.url.path.split("/")
        if verb == "complete" and answer.is_success:
            note(self._folder, TAKEN, job_id, json.loads(request.content)["result"]["attempt"])
        return answer


def note(folder: Path, what: str, job_id: str, attempt: str) -> None:
    """Leave a mark that outlives the process."""
    (folder / what / f"{job_id}.{attempt}").touch()


def main(folder: Path, seconds: float) -> None:
    """Work until told to stop."""

    def handle(context: JobContext) -> dict[str, str]:
        attempt = secrets.token_hex(8)
        note(folder, BEGUN, context.job.id, attempt)
        context.lost.wait(random.uniform(0.5, 1.5) * seconds)
        return {"attempt": attempt}

    url, key = os.environ["JOBQUEUE_URL"], os.environ["JOBQUEUE_KEY"]
    with Client(url, key, transport=Witness(folder)) as client:
        Worker(
            client,
            {"email": handle},
            queues=[QUEUE],
            concurrency=1,
            lease_seconds=LEASE_SECONDS,
            poll_seconds=1.0,
        ).run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
