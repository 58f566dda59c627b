"""Workers of the Python client that are killed and frozen while they work."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import pytest

from local.paths import ROOT
from tests.e2e import jobs
from tests.e2e.client_worker import BEGUN, TAKEN
from tests.e2e.jobs import JsonObject, seen
from tests.e2e.running import PATIENCE_SECONDS, Stack, wait_until

JOBS, WORKERS, KILLS = 200, 4, 10
PACE_SECONDS = 1.0
HANDLER_SECONDS = 0.15  # so that there is work for as long as the killing lasts
POLL_SECONDS = 0.5
LOOKERS = 2
FOR_EVER = 3600.0


class Fleet:
    """Worker processes, and what they leave in their folder."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        for what in (BEGUN, TAKEN):
            (folder / what).mkdir()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def start(self, seconds: float) -> subprocess.Popen[bytes]:
        """Start a worker whose handler takes `seconds`."""
        environment = {
            "JOBQUEUE_URL": self._stack.state.url,
            "JOBQUEUE_KEY": self._stack.state.keys["worker"],
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "client" / "src")]),
        }
        with (self._folder / "output.txt").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.client_worker", str(self._folder), str(seconds)],
                env=os.environ | environment,
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        self._processes.append(process)
        return process

    def said(self) -> str:
        """Return what the workers have printed."""
        return (self._folder / "output.txt").read_text(errors="replace")

    def attempts(self, what: str) -> dict[str, set[str]]:
        """Return the tokens of the attempts that were begun or taken, by job."""
        found: dict[str, set[str]] = defaultdict(set)
        for path in (self._folder / what).iterdir():
            job_id, _, attempt = path.name.partition(".")
            found[job_id].add(attempt)
        return found

    def ended(self, job: JsonObject) -> JsonObject:
        """Wait until a job is finished, and return it."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        # what a killed worker has completed may be in no file, so the API has the last word
        while (found := seen(self._stack, job))["finished_at"] is None:
            assert time.monotonic() < give_up, f"{job['id']} is {found['status']}: {self.said()}"
            time.sleep(POLL_SECONDS)
        return found


@pytest.fixture
def fleet(empty: Stack, tmp_path: Path) -> Iterator[Fleet]:
    with Fleet(empty, tmp_path) as workers:
        yield workers


def test_no_job_is_lost_or_completed_twice_while_workers_are_killed(empty: Stack, fleet: Fleet) -> None:
    made = enqueued(empty, JOBS)
    workers = [fleet.start(HANDLER_SECONDS) for _ in range(WORKERS)]
    wait_until(lambda: len(fleet.attempts(TAKEN)) >= WORKERS)  # the functions have started
    for _ in range(KILLS):
        time.sleep(PACE_SECONDS)
        number = random.randrange(WORKERS)
        workers[number].kill()
        assert workers[number].wait() == -signal.SIGKILL, fleet.said()  # it had not ended by itself
        workers[number] = fleet.start(HANDLER_SECONDS)
    with ThreadPoolExecutor(LOOKERS) as pool:
        ends = list(pool.map(fleet.ended, made))
    for worker in workers:
        worker.terminate()
    assert [worker.wait() for worker in workers] == [0] * WORKERS, fleet.said()

    assert {job["status"] for job in ends} <= {"completed", "failed"}
    assert len({job["id"] for job in ends}) == JOBS
    begun, taken = fleet.attempts(BEGUN), fleet.attempts(TAKEN)
    assert begun.keys() == {job["id"] for job in made}
    for job in ends:
        results = {job["result"]["attempt"]} if job["status"] == "completed" else set()
        assert taken[job["id"]] <= results, "the API has taken an end that was not the end"
        assert results <= begun[job["id"]]
        assert len(begun[job["id"]]) <= job["retry_count"] + 1, "an attempt was not counted"
    # else the killing has met no job, and nothing of this was tried
    assert any(job["retry_count"] > 0 for job in ends)


def test_what_killed_and_frozen_workers_held_is_completed_by_another(empty: Stack, fleet: Fleet) -> None:
    made = enqueued(empty, 2)
    killed, frozen = (fleet.start(FOR_EVER) for _ in range(2))
    wait_until(lambda: fleet.attempts(BEGUN).keys() == {job["id"] for job in made})
    first = fleet.attempts(BEGUN)
    killed.send_signal(signal.SIGKILL)
    frozen.send_signal(signal.SIGSTOP)
    assert [seen(empty, job)["status"] for job in made] == ["running", "running"]

    fleet.start(0)
    ends = [fleet.ended(job) for job in made]
    frozen.send_signal(signal.SIGCONT)
    frozen.send_signal(signal.SIGTERM)
    assert frozen.wait() == 0, fleet.said()  # it has stopped its handler, which lost its lease

    for job in ends:
        assert (job["status"], job["retry_count"]) == ("completed", 1)
        assert job["result"]["attempt"] not in first[job["id"]]
        assert fleet.attempts(TAKEN)[job["id"]] == {job["result"]["attempt"]}
        assert seen(empty, job) == job


def enqueued(stack: Stack, count: int) -> list[JsonObject]:
    """Enqueue jobs that nothing but killing fails, and return them."""
    bodies = [jobs.email(max_retries=100) for _ in range(count)]
    made: list[JsonObject] = []
    for start in range(0, count, 100):
        answer = stack.call("producer", "POST", "/jobs/batch", {"jobs": bodies[start : start + 100]})
        assert answer.status_code == 200, answer.text
        made += [result["job"] for result in answer.json()["results"]]
    return made
