"""A worker with one job, in a process of its own, for tests that send it signals."""

from __future__ import annotations

import json
import os
import sys
import time

from jobqueue_client import Client, JobContext, Worker
from tests.client.fake_api import FakeApi


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def handle(context: JobContext) -> str:
    say("handling")
    context.stopping.wait()
    say("stopping")
    # past the buffer of sys.stdin, whose lock a thread that is cut off here would take to its grave
    return os.read(0, 100).decode().strip()


def main() -> None:
    api = FakeApi(time.monotonic)
    job_id = api.add()
    with Client("https://queue.example.com", "jq_key", transport=api.transport()) as client:
        Worker(client, {"greet": handle}, grace_seconds=float(sys.argv[1])).run()
    say(json.dumps(api.jobs[job_id]))


if __name__ == "__main__":
    main()
