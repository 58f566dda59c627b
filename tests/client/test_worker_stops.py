from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

import pytest

from jobqueue_client import JobContext, Snooze, Worker
from jobqueue_client.stopping import stop_on_signals
from tests.client.clocks import PATIENCE, wait_for
from tests.client.conftest import Bench
from tests.client.fake_api import FakeApi

ROOT = Path(__file__).parents[2]


def test_a_stopped_worker_claims_no_more_and_lets_its_handlers_finish(bench: Bench) -> None:
    held, waiting = bench.api.add(), bench.api.add()
    worker = bench.start(concurrency=1)
    worker.stop()
    bench.clock.settle()
    assert bench.gate.inside[0].stopping.is_set()
    bench.advance(10)
    assert bench.is_running
    bench.gate.open()
    bench.wait_until_stopped()
    assert (bench.api.status(held), bench.api.status(waiting)) == ("completed", "pending")


def test_an_idle_worker_stops_at_once(bench: Bench) -> None:
    bench.start().stop()
    bench.wait_until_stopped()


def test_a_worker_that_was_stopped_before_it_ran_claims_nothing(bench: Bench) -> None:
    bench.api.add()
    worker = bench.start()
    bench.gate.open()
    worker.stop()
    bench.wait_until_stopped()
    claims = len(bench.api.times("claim"))
    worker.run()
    assert len(bench.api.times("claim")) == claims


def test_leases_are_extended_during_the_grace(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(grace_seconds=120.0).stop()
    bench.advance(100)
    bench.gate.open()
    bench.wait_until_stopped()
    assert bench.api.status(job_id) == "completed"


def test_what_is_not_finished_within_the_grace_is_given_back(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(grace_seconds=25.0).stop()
    bench.advance(24)
    assert bench.api.status(job_id) == "running"
    bench.clock.advance(1)
    bench.wait_until_stopped()
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["retry_count"]) == ("pending", 0)
    assert bench.gate.inside[0].lost.is_set()
    bench.gate.open()
    wait_for(lambda: not bench.clock.blocked, "the handler ending")
    assert bench.api.times("complete") == []


def test_force_ends_the_grace(bench: Bench) -> None:
    job_id = bench.api.add()
    worker = bench.start(grace_seconds=1e6)
    worker.stop()
    bench.clock.settle()
    worker.stop(force=True)
    bench.wait_until_stopped()
    assert bench.api.status(job_id) == "pending"


def test_a_job_that_comes_while_stopping_is_given_back_unstarted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = bench.api.add()
    workers: list[Worker] = []

    def stopped_meanwhile(body: dict[str, Any]) -> dict[str, Any] | None:
        workers[0].stop()
        return FakeApi.take(bench.api, body)

    bench.api.jobs[job_id]["available"] = 1005.0
    workers.append(bench.start(concurrency=1))
    monkeypatch.setattr(bench.api, "take", stopped_meanwhile)
    bench.clock.advance(10)
    bench.wait_until_stopped()
    assert bench.gate.inside == []
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["retry_count"]) == ("pending", 0)


def test_an_api_that_is_down_does_not_keep_a_worker_from_stopping(bench: Bench) -> None:
    job_id = bench.api.add()
    worker = bench.start(grace_seconds=2.0)
    bench.api.down = True
    worker.stop()
    bench.clock.settle()
    bench.stop_waiting()
    assert bench.api.status(job_id) == "running"


def test_a_handler_can_leave_for_a_stop(bench: Bench) -> None:
    job_id = bench.api.add()

    def leaves(context: JobContext) -> None:
        bench.clock.blocked.add(threading.current_thread())
        context.stopping.wait()
        raise Snooze(0)

    bench.start(leaves).stop()
    bench.wait_until_stopped()
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["retry_count"]) == ("pending", 0)


def test_a_job_that_is_finished_is_not_given_back_but_reported(bench: Bench) -> None:
    job_id = bench.api.add()
    worker = bench.start(grace_seconds=5.0)
    bench.api.down = True
    bench.gate.open()
    wait_for(lambda: bool(bench.api.times("complete")), "a first report")
    worker.stop()
    bench.advance(5)
    bench.api.down = False
    bench.stop_waiting()
    assert bench.api.times("release") == []
    assert bench.api.status(job_id) == "completed"


def test_two_signals_are_listened_to_and_then_no_more() -> None:
    asked: list[bool] = []

    def stop(*, force: bool) -> None:
        asked.append(force)

    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with stop_on_signals(stop):
        signal.raise_signal(signal.SIGTERM)
        assert asked == [False]
        signal.raise_signal(signal.SIGINT)
        assert asked == [False, True]
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


class Process:
    """A worker in a process of its own. It says what it does on its output, and obeys its input."""

    def __init__(self, grace_seconds: float) -> None:
        command = [sys.executable, "-m", "tests.client.worker_process", str(grace_seconds)]
        path = os.pathsep.join([str(ROOT), str(ROOT / "client" / "src")])
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._watchdog = threading.Timer(PATIENCE, self.process.kill)
        self._watchdog.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def expect(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == line

    def let_handler_finish(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("finished\n")
        self.process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Return the job as the process left it."""
        # the input stays open: its end would let the handler finish
        assert self.process.stdout is not None
        output = self.process.stdout.read()
        assert self.process.wait() == 0
        job: dict[str, Any] = json.loads(output.splitlines()[-1])
        return job


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_running_job_finish(number: signal.Signals) -> None:
    with Process(grace_seconds=1e6) as worker:
        worker.expect("handling")
        worker.process.send_signal(number)
        worker.expect("stopping")
        worker.let_handler_finish()
        job = worker.end()
    assert (job["status"], job["result"]) == ("completed", "finished")


def test_a_second_signal_gives_the_job_back_at_once() -> None:
    with Process(grace_seconds=1e6) as worker:
        worker.expect("handling")
        worker.process.send_signal(signal.SIGTERM)
        worker.expect("stopping")
        worker.process.send_signal(signal.SIGTERM)
        job = worker.end()
    assert (job["status"], job["retry_count"]) == ("pending", 0)


def test_a_hanging_handler_does_not_keep_the_process_alive() -> None:
    with Process(grace_seconds=0.0) as worker:
        worker.expect("handling")
        worker.process.send_signal(signal.SIGTERM)
        job = worker.end()
    assert (job["status"], job["retry_count"]) == ("pending", 0)
