"""One job in the hands of a worker: its handler, the lease it is held under, and the report of its end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Event, Lock, Thread
from typing import Any

from .client import Client
from .clock import Mailbox
from .errors import ClientError, InvalidRequest, JobNotHeld, TooLarge, Unavailable, UnexpectedAnswer
from .handling import Completed, Failed, Handler, JobContext, Outcome, describe, run_handler
from .jobs import Job
from .retry import NO_RETRY, RetryPolicy

log = logging.getLogger(__package__)

_DEFAULT_LEASE_SECONDS = 60.0
_SHORTEST_LEASE_SECONDS = 5.0
_PROGRESS_SECONDS = 2.0
"""Between two heartbeats that are sent early since there is progress to tell."""

_SHORTEST_PAUSE_SECONDS = 0.2
_REPORT_SLACK_SECONDS = 65.0
"""After the end of its lease, a job that nobody took can still be finished: the API waits out 5 s of clock
skew, and looks for expired leases once a minute."""

_REPORT_PATIENCE = RetryPolicy(base_seconds=0.5, cap_seconds=10.0)
_RELEASE_PATIENCE = RetryPolicy(attempts=3, base_seconds=0.2, total_seconds=3.0)
_RELEASE_TIMEOUT_SECONDS = 3.0


class _Phase(Enum):
    HANDLING = "handling"
    REPORTING = "reporting"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class _Progress:
    value: Any


class JobRun:
    """Runs one claimed job in a thread, with another that extends its lease.

    The lease is timed here on the monotonic clock, from before the call that took or extended it was sent:
    whatever the clocks of the machines show, it ends here no later than it does there.

    Parameters
    ----------
    job : Job
        From a claim.
    handler : callable
        What to do with it.
    client : Client
        Reaches the API, and has the clock.
    asked_at : float
        When the claim was sent, on the monotonic clock.
    lease_seconds : int, optional
        What the claim asked for. Default: what the job says that it got.
    heartbeat_seconds : float
        The longest time between heartbeats, which is how soon a request to cancel is seen.
    stopping : threading.Event
        Set when the worker stops.
    on_end : callable
        Called with this run when its slot is free again.
    """

    def __init__(
        self,
        job: Job,
        handler: Handler,
        *,
        client: Client,
        asked_at: float,
        lease_seconds: int | None,
        heartbeat_seconds: float,
        stopping: Event,
        on_end: Callable[[JobRun], None],
    ) -> None:
        self.job = job
        self._handler = handler
        self._client = client.with_options(retry=NO_RETRY)
        self._clock = client.clock
        self._on_end = on_end
        self._context = JobContext(job, stopping=stopping, on_progress=self._note_progress)
        self._mailbox: Mailbox[str | None] = Mailbox()
        self._lock = Lock()
        self._phase = _Phase.HANDLING
        self._progress: _Progress | None = None

        self._lease_seconds = _lease_seconds(job) if lease_seconds is None else float(lease_seconds)
        self._period = min(self._lease_seconds / 3, heartbeat_seconds)
        self._held_until = asked_at + self._lease_seconds
        self._last_beat = asked_at
        self._next_beat = asked_at + self._period
        self._not_before = asked_at
        self._failed_beats = 0

    def start(self) -> None:
        """Start the handler and the heartbeats."""
        # daemons: a handler that hangs must not keep the process alive after its job was given back
        Thread(target=self._work, name=f"jobqueue-{self.job.id}", daemon=True).start()
        Thread(target=self._keep_lease, name=f"jobqueue-lease-{self.job.id}", daemon=True).start()

    def abandon(self) -> None:
        """Give the job back unfinished, in the background. One that is finished is still reported."""
        if self._move(_Phase.LOST):
            self._log(logging.WARNING, "job_abandoned", "the worker stops: the job is given back")
            self._context.lost.set()
            self._mailbox.put("over")
            Thread(target=self._release, name=f"jobqueue-release-{self.job.id}", daemon=True).start()

    def _move(self, phase: _Phase) -> bool:
        """Leave HANDLING for `phase`; False when that has happened already."""
        with self._lock:
            if self._phase is not _Phase.HANDLING:
                return False
            self._phase = phase
            return True

    def _work(self) -> None:
        try:
            outcome = run_handler(self._handler, self._context)
            # from here on a refused heartbeat may mean that the report has landed, so there are no more
            if self._move(_Phase.REPORTING):
                self._mailbox.put("over")
                self._report(outcome)
        finally:
            self._on_end(self)

    def _report(self, outcome: Outcome) -> None:
        """Say how the job ended, for as long as that can count. The lease token keeps it from doing harm."""
        give_up = self._held_until + _REPORT_SLACK_SECONDS
        failures = 0
        while True:
            try:
                outcome.report(self._client, self.job)
            except JobNotHeld:
                self._log(logging.WARNING, "lease_lost", "the job was taken back before its end was reported")
            except (Unavailable, UnexpectedAnswer) as error:
                delay = _REPORT_PATIENCE.delay(failures, self._client.random(), error.retry_after)
                failures += 1
                if self._clock.monotonic() + delay < give_up:
                    self._log(logging.WARNING, "report_delayed", f"the end is not reported yet: {error}")
                    self._clock.sleep(delay)
                    continue
                self._log(logging.ERROR, "report_given_up", f"the end could not be reported: {error}")
            except ClientError as error:
                if isinstance(outcome, Completed) and isinstance(error, InvalidRequest | TooLarge):
                    # a result that the API refuses, as one that is too large, is the handler's failure
                    outcome = Failed(describe(error))
                    continue
                self._log(logging.ERROR, "report_refused", f"the end was not taken: {error}")
            else:
                self._log(logging.INFO, "job_reported", f"the attempt ended: {type(outcome).__name__}")
            return

    def _release(self) -> None:
        client = self._client.with_options(timeout=_RELEASE_TIMEOUT_SECONDS, retry=_RELEASE_PATIENCE)
        try:
            client.release(self.job)
        except ClientError as error:
            self._log(logging.WARNING, "release_failed", f"the job is left to its lease: {error}")
        finally:
            self._on_end(self)

    def _keep_lease(self) -> None:
        while self._phase is _Phase.HANDLING:
            now = self._clock.monotonic()
            if now >= self._held_until:
                self._lose("its lease ran out before it could be extended")
                return
            due = self._next_beat
            if self._progress is not None:
                due = max(self._not_before, min(due, self._last_beat + _PROGRESS_SECONDS))
            if now >= due:
                self._beat(now)
            else:
                self._clock.wait(self._mailbox, min(due, self._held_until) - now)

    def _beat(self, now: float) -> None:
        with self._lock:
            progress, self._progress = self._progress, None
        # an answer that comes late is worth little: better ask again while there is time
        timeout = min(self._client.timeout, max(1.0, self._lease_seconds / 6))
        try:
            lease = self._client.with_options(timeout=timeout).heartbeat(
                self.job,
                lease_seconds=round(self._lease_seconds),
                progress=None if progress is None else progress.value,
            )
        except JobNotHeld:
            self._lose("it is no longer held under this lease")
        except InvalidRequest as error:
            # without the progress, if that is what it was, at the next heartbeat
            self._log(logging.ERROR, "heartbeat_refused", f"a heartbeat was not taken: {error}")
            self._put_off_beat(self._period / 2)
        except ClientError as error:
            self._log(logging.WARNING, "heartbeat_failed", f"a heartbeat failed: {error}")
            self._keep_progress(progress)
            patience = RetryPolicy(base_seconds=min(1.0, self._period / 4), cap_seconds=self._period / 2)
            self._put_off_beat(patience.delay(self._failed_beats, self._client.random(), error.retry_after))
            self._failed_beats += 1
        else:
            self._failed_beats = 0
            self._held_until = now + self._lease_seconds
            self._last_beat = now
            self._next_beat = now + self._period
            if lease.cancel_requested and not self._context.cancelled.is_set():
                self._log(logging.INFO, "cancel_requested", "the job was asked to be cancelled")
                self._context.cancelled.set()

    def _put_off_beat(self, seconds: float) -> None:
        # whatever the API asked for, there must be another try before the lease ends
        now = self._clock.monotonic()
        seconds = max(_SHORTEST_PAUSE_SECONDS, min(seconds, (self._held_until - now) / 2))
        self._next_beat = self._not_before = now + seconds

    def _keep_progress(self, progress: _Progress | None) -> None:
        with self._lock:
            if self._progress is None:
                self._progress = progress

    def _lose(self, reason: str) -> None:
        if self._move(_Phase.LOST):
            self._log(logging.WARNING, "lease_lost", f"the job is lost: {reason}")
            self._context.lost.set()

    def _note_progress(self, value: Any) -> None:
        with self._lock:
            is_first, self._progress = self._progress is None, _Progress(value)
        if is_first:
            self._mailbox.put("progress")

    def _log(self, level: int, action: str, message: str) -> None:
        fields = {"action": action, "job_id": self.job.id, "job_type": self.job.type}
        log.log(level, "%s [%s %s]", message, self.job.type, self.job.id, extra=fields)


def _lease_seconds(job: Job) -> float:
    """Return how long the claim holds the job: both times are of the API's clock, so this is no skew."""
    if job.lease_expires_at is None or job.claimed_at is None:
        return _DEFAULT_LEASE_SECONDS
    return max(_SHORTEST_LEASE_SECONDS, (job.lease_expires_at - job.claimed_at).total_seconds())
