"""A worker: claims jobs, runs their handlers in threads, and stops cleanly."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from threading import Event

from .client import Client
from .clock import Mailbox
from .errors import ClientError, Unavailable, UnexpectedAnswer
from .handling import Handlers, JobContext, Snooze
from .jobrun import JobRun
from .jobs import Job
from .retry import NO_RETRY, RetryPolicy
from .stopping import stop_on_signals

log = logging.getLogger(__package__)

_MOST_PER_CLAIM = 25
_DOWN = RetryPolicy(base_seconds=0.5, cap_seconds=30.0)
_SHORTEST_PAUSE_SECONDS = 0.1
_LISTEN_SECONDS = 1.0
"""A signal that arrives in the instant before the main thread waits does not end the wait, and its handler
runs only after it. So no wait is long."""

_LAST_CALLS_SECONDS = 5.0
"""For giving jobs back, once the grace is over."""

_STOP = "stop"
_FORCE = "force"


class Worker:
    """Claims jobs and runs their handlers, until it is stopped.

    It claims only as many jobs as it can start at once, so a crash costs no waiting job an attempt. While a
    handler runs, its lease is extended in the background. While the API is down it goes on asking, less and
    less often, and a result that is finished then is reported once the API is back, as long as the lease
    can be alive.

    A queue may hold types that this worker has no handler for, as when a newer worker is being rolled out.
    Such a job is given back with a delay: that costs it no attempt, and lets others have it.

    On SIGTERM or SIGINT (when `run` is called in the main thread), and on `stop`, it claims no more, lets its
    handlers finish for `grace_seconds`, then gives their jobs back and returns. A second signal ends the
    grace at once. A handler that goes on after that is cut off when the process exits.

    Parameters
    ----------
    client : Client
        With a worker's key. Its clock and its jitter are the worker's too.
    handlers : mapping of str to callable
        For each job type, a function that takes a `JobContext` and returns the job's result, which must be
        JSON. It may raise `Discard`, `RetryLater`, `Snooze` or `Cancelled`; any other exception fails the
        attempt with ``Type: message``. Several run at once, each in a thread of its own.
    queues : sequence of str, optional
        The queues to work. Default: all that the key is granted.
    concurrency : int
        How many handlers run at once.
    lease_seconds : int, optional
        How long a job is held without a heartbeat, 5 to 43,200. Default: the type's own. A crash of the
        worker delays its jobs by this.
    heartbeat_seconds : float
        The longest time between heartbeats. They come after a third of the lease at the latest.
    grace_seconds : float
        How long handlers may go on after the worker was asked to stop.
    poll_seconds : float
        How long to wait when there is no job and the API does not say how long.
    unknown_type_seconds : float
        How long to put off a job of a type without a handler.
    handle_signals : bool
        Whether to listen to SIGTERM and SIGINT.

    Raises
    ------
    ValueError
        If there is no handler, or `concurrency` is less than 1.
    """

    def __init__(
        self,
        client: Client,
        handlers: Handlers,
        *,
        queues: Sequence[str] | None = None,
        concurrency: int = 4,
        lease_seconds: int | None = None,
        heartbeat_seconds: float = 30.0,
        grace_seconds: float = 25.0,
        poll_seconds: float = 5.0,
        unknown_type_seconds: float = 60.0,
        handle_signals: bool = True,
    ) -> None:
        if not handlers or concurrency < 1:
            raise ValueError("a worker needs at least one handler and room to run it")
        self._client = client.with_options(retry=NO_RETRY)
        self._clock = client.clock
        self._handlers = dict(handlers)
        self._queues = None if queues is None else tuple(queues)
        self._concurrency = concurrency
        self._lease_seconds = lease_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._grace_seconds = grace_seconds
        self._poll_seconds = poll_seconds
        self._unknown_type_seconds = unknown_type_seconds
        self._handle_signals = handle_signals

        self._mailbox: Mailbox[JobRun | str | None] = Mailbox()
        self._runs: set[JobRun] = set()
        self._stopping = Event()
        self._forced = False
        self._next_claim = 0.0
        self._failures = 0

    def run(self) -> None:
        """Work until stopped. Runs once: a worker that was stopped stays so.

        Raises
        ------
        ClientError
            A refusal of the claim that does not pass by itself, as of a wrong key or an unknown queue. The
            jobs that were running then have been ended as on `stop`.
        """
        with stop_on_signals(self.stop) if self._handle_signals else nullcontext():
            self._next_claim = self._clock.monotonic()
            try:
                while not self._stopping.is_set():
                    self._step()
            finally:
                self._drain()

    def stop(self, *, force: bool = False) -> None:
        """Ask `run` to return, from any thread or signal handler; with `force`, without any grace."""
        self._mailbox.put(_FORCE if force else _STOP)

    def _step(self) -> None:
        free = self._concurrency - len(self._runs)
        wait = self._next_claim - self._clock.monotonic() if free else None
        self._read_mail(wait)
        if not self._stopping.is_set() and free and self._clock.monotonic() >= self._next_claim:
            self._claim(free)

    def _read_mail(self, seconds: float | None) -> None:
        """Take in what happened; wait up to `seconds`, but not long, for something to happen."""
        patience = _LISTEN_SECONDS if seconds is None else min(seconds, _LISTEN_SECONDS)
        message = self._clock.wait(self._mailbox, patience)
        while message is not None:
            if isinstance(message, JobRun):
                self._runs.discard(message)
            else:
                self._stopping.set()
                self._forced = self._forced or message == _FORCE
            message = self._clock.wait(self._mailbox, 0.0)

    def _claim(self, free: int) -> None:
        asked_at = self._clock.monotonic()
        try:
            claimed = self._client.claim_many(
                min(free, _MOST_PER_CLAIM), queues=self._queues, lease_seconds=self._lease_seconds
            )
        except (Unavailable, UnexpectedAnswer) as error:
            self._back_off(error)
            return
        self._failures = 0
        if not claimed.jobs:
            hint = self._poll_seconds if claimed.retry_after is None else claimed.retry_after
            # spread, or a fleet that was started together would ask together for ever
            pause = max(hint, _SHORTEST_PAUSE_SECONDS) * (1 + 0.25 * self._client.random())
            self._next_claim = self._clock.monotonic() + pause
            return
        runs = [self._new_run(job, asked_at) for job in claimed.jobs]
        self._runs.update(runs)
        # asked to stop while the claim was under way: nothing is started any more
        self._read_mail(0.0)
        for run in runs:
            if self._stopping.is_set():
                run.abandon()
            else:
                run.start()

    def _back_off(self, error: ClientError) -> None:
        delay = _DOWN.delay(self._failures, self._client.random(), error.retry_after)
        self._failures += 1
        self._next_claim = self._clock.monotonic() + delay
        log.warning("cannot claim, again in %.1f s: %s", delay, error, extra={"action": "claim_failed"})

    def _new_run(self, job: Job, asked_at: float) -> JobRun:
        return JobRun(
            job,
            self._handlers.get(job.type) or self._unknown_type,
            client=self._client,
            asked_at=asked_at,
            lease_seconds=self._lease_seconds,
            heartbeat_seconds=self._heartbeat_seconds,
            stopping=self._stopping,
            on_end=self._mailbox.put,
        )

    def _unknown_type(self, context: JobContext) -> None:
        log.warning(
            "no handler for jobs of type %s: put off",
            context.job.type,
            extra={"action": "unknown_type", "job_id": context.job.id, "job_type": context.job.type},
        )
        raise Snooze(self._unknown_type_seconds * (1 + 0.25 * self._client.random()))

    def _drain(self) -> None:
        """Let the handlers finish within the grace, then give back what they hold."""
        self._stopping.set()
        self._wait_for_runs(self._grace_seconds, until_forced=True)
        for run in self._runs:
            run.abandon()
        self._wait_for_runs(_LAST_CALLS_SECONDS, until_forced=False)

    def _wait_for_runs(self, seconds: float, *, until_forced: bool) -> None:
        end = self._clock.monotonic() + seconds
        while self._runs and not (until_forced and self._forced):
            left = end - self._clock.monotonic()
            if left <= 0:
                return
            self._read_mail(left)
