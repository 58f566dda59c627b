from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jobqueue_client import Client, ClientError, JobContext, Worker
from tests.client.clocks import InstantClock, ManualClock, wait_for
from tests.client.fake_api import FakeApi

URL = "https://queue.example.com/live"
KEY = "jq_CANARY-key"


@pytest.fixture
def clock() -> InstantClock:
    return InstantClock()


@pytest.fixture
def api(clock: InstantClock) -> FakeApi:
    return FakeApi(clock.monotonic)


@pytest.fixture
def client(api: FakeApi, clock: InstantClock) -> Iterator[Client]:
    # random at its top, so that a wait is as long as it can be
    with Client(URL, KEY, transport=api.transport(), clock=clock, random=lambda: 1.0) as client:
        yield client


class Gate:
    """A handler that stays until the test lets it go; `inside` are the jobs that it is at."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._open = threading.Event()
        self.inside: list[JobContext] = []

    def __call__(self, context: JobContext) -> str:
        self.hold(context)
        context.check()
        return "done"

    def hold(self, context: JobContext) -> None:
        """Return once the gate is open."""
        if not self._open.is_set():
            self._clock.blocked.add(threading.current_thread())
        self.inside.append(context)
        self._open.wait()

    def open(self) -> None:
        """Let all go, which are from now on what `settle` waits for."""
        self._clock.blocked.clear()
        self._open.set()


class Bench:
    """A worker in a thread of its own, on a clock that stands still, against an API in memory."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.api = FakeApi(self.clock.monotonic)
        self.client = Client(URL, KEY, transport=self.api.transport(), clock=self.clock, random=lambda: 0.5)
        self.gate = Gate(self.clock)
        self.raised: list[ClientError] = []
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None

    def start(self, handler: Callable[[JobContext], Any] | None = None, **options: Any) -> Worker:
        """Start a worker for jobs of type ``greet``, and return when it has nothing to do."""
        worker = Worker(self.client, {"greet": handler or self.gate}, **options)
        self._worker = worker

        def run() -> None:
            try:
                worker.run()
            except ClientError as error:
                self.raised.append(error)

        self._thread = threading.Thread(target=run, name="jobqueue-worker", daemon=True)
        self._thread.start()
        self.clock.settle()
        return worker

    def advance(self, seconds: float, *, step: float = 1.0) -> None:
        """Let time pass in steps, everything that is due being done after each."""
        self.clock.settle()
        for _ in range(round(seconds / step)):
            self.clock.advance(step)
            self.clock.settle()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wait_until_stopped(self) -> None:
        wait_for(lambda: not self.is_running, "the worker returning")

    def stop_waiting(self) -> None:
        """Let as much time pass as the worker takes to return."""

        def returned() -> bool:
            self.clock.advance(1.0)
            return not self.is_running

        wait_for(returned, "the worker returning")

    def close(self) -> None:
        self.gate.open()
        if self._worker is not None:
            self._worker.stop(force=True)
            self.stop_waiting()
        wait_for(
            lambda: not any(one.name.startswith("jobqueue-") for one in self._pump()), "the threads ending"
        )
        self.client.close()

    def _pump(self) -> list[threading.Thread]:
        self.clock.advance(100.0)
        return threading.enumerate()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()
