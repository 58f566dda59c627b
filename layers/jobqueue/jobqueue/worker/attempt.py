"""One claimed job in the hands of a worker: its handler, its lease, and the report of its end.

Both run in threads of their own, and both are daemons: a handler that hangs must not keep the process.

When the function returns, Lambda freezes the process, threads and all, and may thaw it for a later
invocation. A handler that was still running then goes on, perhaps long after its lease ran out and another
worker took its job. It does no harm: nobody extends its lease any more, and whatever it reports is written
only if the job still runs under its own lease token, which is fresh with every claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from threading import Event, Thread
from typing import Any

from jobqueue import telemetry
from jobqueue.errors import InvalidRequest, JobNotHeld, ReplayMismatch, Unavailable
from jobqueue.job import Job, JobStatus
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue
from jobqueue.worker.ends import Caught, Completed, End, Failed, PutOff, call
from jobqueue.worker.handlers import Handler
from jobqueue.worker.leases import LeaseTimer
from jobqueue.worker.run import Run

ACTION = "work_jobs"
_REPORT_PAUSES = (0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds between the tries to report an end while DynamoDB is busy; the SDK has its own tries in each."""


class Outcome(StrEnum):
    """How an attempt ended."""

    COMPLETED = "completed"
    RETRIED = "retried"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RELEASED = "released"
    LOST = "lost"
    """The job is not held any more, so the end was not written."""
    UNREPORTED = "unreported"
    """The end could not be written: the lease runs out, and the job is tried again."""
    ABANDONED = "abandoned"
    """The handler outlived the function: the same."""


_AFTER_FAILURE = {
    JobStatus.PENDING: Outcome.RETRIED,
    JobStatus.FAILED: Outcome.FAILED,
    JobStatus.CANCELLED: Outcome.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What attempts share.

    Attributes
    ----------
    queue : JobQueue
        Where they report.
    caller : Principal
        Who holds the jobs.
    stopping : threading.Event
        Set when the function's time is nearly over.
    monotonic, sleep : callable
        Time that nobody sets back, in seconds.
    """

    queue: JobQueue
    caller: Principal
    stopping: Event
    monotonic: Callable[[], float]
    sleep: Callable[[float], object]


class Attempt:
    """Runs one job.

    Parameters
    ----------
    job : Job
        From a claim.
    handler : Handler or None
        What to do with it; None fails it.
    tools : Tools
        What it needs.
    lease_seconds : float
        How long the claim holds the job.
    claimed_at : float
        When the claim was sent, on the monotonic clock.
    on_end : callable
        Told when the slot is free again, and how the attempt ended.
    """

    def __init__(
        self,
        job: Job,
        handler: Handler | None,
        tools: Tools,
        *,
        lease_seconds: float,
        claimed_at: float,
        on_end: Callable[[Attempt, Outcome], None],
    ) -> None:
        self.job = job
        self._handler = handler
        self._tools = tools
        self._on_end = on_end
        self._started_at = claimed_at
        self._lease = LeaseTimer(lease_seconds, claimed_at)
        self._ended = Event()
        self.run = Run(job, stopping=tools.stopping, on_progress=self._tell_progress)

    def start(self) -> None:
        """Start the handler, and keep its lease."""
        telemetry.decision(ACTION, "started", self.job)  # the only line of a job that ends its process
        Thread(target=self._work, name=self.job.id, daemon=True).start()
        Thread(target=self._keep_lease, name=f"lease of {self.job.id}", daemon=True).start()

    def abandon(self) -> None:
        """Leave the job to its lease."""
        self._ended.set()
        self.run.lost.set()
        self._log(Outcome.ABANDONED)

    def beat(self) -> float:
        """Extend the lease if it is time to; return after how many seconds to look again."""
        if self._lease.is_due(self._tools.monotonic()):
            with Caught() as caught:
                self._extend(None)
            if caught.error is not None:
                # whatever it is, it may pass while the lease lasts; then the handler must learn of its end
                self._lease.missed()
                if not isinstance(caught.error, Unavailable):
                    telemetry.crash(ACTION, caught.error)
        now = self._tools.monotonic()
        if self._lease.is_over(now):
            self.run.lost.set()
        return self._lease.pause(now)

    def _keep_lease(self) -> None:
        pause = self._lease.pause(self._tools.monotonic())
        while not self._ended.wait(pause) and not self.run.lost.is_set():
            pause = self.beat()

    def _tell_progress(self, progress: Any) -> None:
        try:
            self._extend(progress)
        except Unavailable:
            telemetry.decision(ACTION, "progress-not-told", self.job)  # less matters than that it goes on

    def _extend(self, progress: Any) -> None:
        asked_at = self._tools.monotonic()
        try:
            lease = self._tools.queue.extend(
                self._tools.caller,
                self.job.id,
                lease_token=self.job.lease_token,
                lease_seconds=self._lease.whole_seconds,
                progress=progress,
            )
        except JobNotHeld:
            self.run.lost.set()
            return
        self._lease.extended(asked_at)
        if lease.cancel_requested:
            self.run.cancelled.set()

    def _work(self) -> None:
        end = call(self._handler, self.run)
        outcome = Outcome.UNREPORTED
        with Caught() as caught:
            outcome = self._report(end)
        if caught.error is not None:
            telemetry.crash(ACTION, caught.error)
        self._ended.set()
        self._log(outcome, end)
        self._on_end(self, outcome)

    def _report(self, end: End) -> Outcome:
        """Write how the attempt ended; the lease is kept meanwhile."""
        for pause in (*_REPORT_PAUSES, None):
            try:
                return self._write(end)
            except (JobNotHeld, ReplayMismatch):
                return Outcome.LOST
            except InvalidRequest as refused:
                # work that is done must not be done again for the sake of its result
                end = Failed(
                    error=refused.errors[0].message,
                    discard=isinstance(end, Completed),
                    error_class=type(refused).__name__,
                    frames=[],
                )
            except Unavailable:
                if pause is not None:
                    self._tools.sleep(pause)
        return Outcome.UNREPORTED

    def _write(self, end: End) -> Outcome:
        queue, caller, token = self._tools.queue, self._tools.caller, self.job.lease_token
        match end:
            case Completed(result=result):
                queue.complete(caller, self.job.id, lease_token=token, result=result)
                return Outcome.COMPLETED
            case PutOff(seconds=seconds):
                job = queue.release(caller, self.job.id, lease_token=token, delay_seconds=seconds)
                return Outcome.CANCELLED if job.status is JobStatus.CANCELLED else Outcome.RELEASED
            case Failed():
                job = queue.fail(
                    caller,
                    self.job.id,
                    lease_token=token,
                    error=end.error,
                    retry_in_seconds=end.retry_in_seconds,
                    discard=end.discard,
                )
                # another status tells of a repeated report: the job was retried, and has gone on since
                return _AFTER_FAILURE.get(job.status, Outcome.RETRIED)

    def _log(self, outcome: Outcome, end: End | None = None) -> None:
        failed = end if isinstance(end, Failed) else None
        telemetry.decision(
            ACTION,
            outcome,
            self.job,
            seconds=round(self._tools.monotonic() - self._started_at, 3),
            error_class=failed.error_class if failed else None,
            error_frames=failed.frames if failed else None,
        )
