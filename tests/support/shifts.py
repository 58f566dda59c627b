"""Shifts of the worker function in tests: its handlers are the test's, its time as well."""

from __future__ import annotations

import inspect
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.jobtype import JobTypes
from jobqueue.principal import Principal, Role
from jobqueue.worker import Run, handles
from jobqueue.worker.attempt import Outcome
from jobqueue.worker.handlers import Handlers
from jobqueue.worker.shift import Crew, Shift
from tests.support.workshop import JOB_TYPES, Workshop

WORK_JOBS = Principal(
    id="internal:work_jobs",
    role=Role.WORKER,
    queues=frozenset({"default", "bulk"}),
    max_priority=JobPriority.LOW,
)
PATIENCE_SECONDS = 30
MINUTES = 300.0


class Site:
    """Runs shifts on a workshop.

    Parameters
    ----------
    workshop : Workshop
        The queue.
    handler : callable or None
        Handles the jobs of every type: takes the job and, if it likes, the payload and the run. None does
        nothing with them.
    concurrency : int
        How many jobs run side by side.
    job_types : JobTypes
        The types.
    """

    def __init__(
        self,
        workshop: Workshop,
        handler: Callable[..., Any] | None = None,
        *,
        concurrency: int = 10,
        job_types: JobTypes = JOB_TYPES,
    ) -> None:
        arguments = len(inspect.signature(handler).parameters) if handler else 0

        def used(job: Job, payload: BaseModel, run: Run) -> Any:
            return handler(*(job, payload, run)[:arguments]) if handler else None

        for job_type in job_types.types:
            handles(job_type.name)(used)
        self.workshop = workshop
        self.sleeps: list[float] = []
        """What it slept, without the time passing."""
        self.crew = Crew(
            queue=workshop.queue,
            job_types=job_types,
            handlers=Handlers([used], job_types, {"default"}),
            caller=WORK_JOBS,
            queues=("default",),
            concurrency=concurrency,
            sleep=self.sleeps.append,
        )

    def with_time(
        self, *, sleep: Callable[[float], object], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Give it other time."""
        self.crew = replace(self.crew, sleep=sleep, monotonic=monotonic)

    def work(self, remaining: Callable[[], float] = lambda: MINUTES, **options: Any) -> Counter[Outcome]:
        """Work one shift."""
        return Shift(self.crew, remaining, **options).work()

    def statuses(self, jobs: list[Job]) -> Counter[JobStatus]:
        """Count the jobs by their status now."""
        return Counter(self.workshop.get(job.id).status for job in jobs)


def eventually(happened: Callable[[], bool]) -> None:
    """Wait until something has happened in another thread."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.005)


class Gate:
    """Where handlers wait until a test lets them on."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self._open = threading.Event()

    def wait(self, job: Job) -> None:
        """Wait for the gate to open."""
        self.arrived.append(job.id)
        assert self._open.wait(PATIENCE_SECONDS)

    def open(self) -> None:
        """Let everybody on."""
        self._open.set()
