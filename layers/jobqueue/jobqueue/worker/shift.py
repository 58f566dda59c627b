"""One invocation of the worker function: jobs are claimed and run until there are none, or no time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event

from jobqueue import telemetry
from jobqueue.errors import JobNotFound, JobNotHeld, Unavailable
from jobqueue.job import Job, JobStatus
from jobqueue.jobtype import JobTypes
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue
from jobqueue.worker.attempt import ACTION, Attempt, Outcome, Tools
from jobqueue.worker.handlers import Handlers

LEAVE_SECONDS = 1.0
"""What is left of the function's time when it returns, whatever still runs."""

STOPPING_SECONDS = 5.0
"""What is left of it when handlers are told to stop."""

LAST_CLAIM_SHARE, LAST_CLAIM_LEAST, LAST_CLAIM_MOST = 0.2, STOPPING_SECONDS, 60.0
"""No job is taken in the last part of the time: a handler that outlives the function costs a retry."""

PATIENCE_SECONDS = 2.0
"""How long a job that a wake promised is looked for, since an index can lag behind the stream."""

_LOOK_AGAIN_SECONDS = 0.1
_WHILE_OTHERS_RUN_SECONDS = 1.0
"""Between two looks while a slot is free: the wakes of newer jobs may be waiting behind this invocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """What all invocations of a process share.

    Attributes
    ----------
    queue : JobQueue
        Where the jobs are.
    job_types : JobTypes
        Gives the leases.
    handlers : Handlers
        What to do with a job.
    caller : Principal
        Who claims.
    queues : tuple of str
        The queues that are worked.
    concurrency : int
        How many jobs run side by side.
    monotonic, sleep : callable
        Time that nobody sets back, in seconds.
    """

    queue: JobQueue
    job_types: JobTypes
    handlers: Handlers
    caller: Principal
    queues: tuple[str, ...]
    concurrency: int
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


class Shift:
    """Works until the queues are empty, or time is short.

    Parameters
    ----------
    crew : Crew
        What it works with.
    remaining : callable
        How many seconds of the function's time are left.
    promised : collection of str
        Ids of jobs that are said to be ready.
    claim_seconds : float or None
        For how long it may take jobs; None is as long as there is time.
    on_backlog : callable
        Called once, when more jobs wait than this shift can start.
    """

    def __init__(
        self,
        crew: Crew,
        remaining: Callable[[], float],
        *,
        promised: Collection[str] = (),
        claim_seconds: float | None = None,
        on_backlog: Callable[[], None] = lambda: None,
    ) -> None:
        self._crew = crew
        self._remaining = remaining
        self._promised = set(promised)
        self._on_backlog = on_backlog
        self._tell_backlog = True
        self._began = crew.monotonic()
        self._last_claim = None if claim_seconds is None else self._began + claim_seconds
        self._margin = min(LAST_CLAIM_MOST, max(LAST_CLAIM_LEAST, LAST_CLAIM_SHARE * remaining()))
        self._next_look = self._began
        self._busy = False
        self._running: set[Attempt] = set()
        self._ended: SimpleQueue[tuple[Attempt, Outcome]] = SimpleQueue()
        self._outcomes: Counter[Outcome] = Counter()
        self._tools = Tools(
            queue=crew.queue,
            caller=crew.caller,
            stopping=Event(),
            monotonic=crew.monotonic,
            sleep=crew.sleep,
        )

    def work(self) -> Counter[Outcome]:
        """Work, and return how many jobs ended in which way. What a handler does makes no difference.

        Raises
        ------
        ClientError
            If DynamoDB refuses the function, for want of a permission say; what runs is waited for.
        """
        try:
            while self._may_claim() and (self._take() or self._running or self._promise_is_open()):
                self._pause(self._until_look())
        finally:
            while self._running and self._remaining() > LEAVE_SECONDS:
                self._pause(_WHILE_OTHERS_RUN_SECONDS)
            self._leave()
        return self._outcomes

    def _may_claim(self) -> bool:
        if self._busy or self._remaining() <= self._margin:
            return False
        return self._last_claim is None or self._crew.monotonic() < self._last_claim

    def _take(self) -> bool:
        """Claim as many jobs as can start at once, and start them; tell whether there were any."""
        free = self._crew.concurrency - len(self._running)
        now = self._crew.monotonic()
        if free == 0 or now < self._next_look:
            return False
        try:
            jobs = self._crew.queue.claim_batch(self._crew.caller, free, queues=self._crew.queues)
        except Unavailable:
            # a busy table is not helped by more claims; the next wake comes within a minute
            telemetry.decision(ACTION, "unavailable")
            self._busy = True
            return False
        for job in jobs:
            self._start(job, now)
        if len(jobs) == free:
            self._note_backlog()
        else:
            self._next_look = now + (_WHILE_OTHERS_RUN_SECONDS if self._running else _LOOK_AGAIN_SECONDS)
        return bool(jobs)

    def _start(self, job: Job, claimed_at: float) -> None:
        self._promised.discard(job.id)
        if not self._may_claim():
            # the claim itself took too long: nobody has touched the job, so this counts as nothing
            self._release(job)
            return
        attempt = Attempt(
            job,
            self._crew.handlers.get(job.type),
            self._tools,
            lease_seconds=self._crew.job_types.policy(job.type).lease_seconds,
            claimed_at=claimed_at,
            on_end=lambda attempt, outcome: self._ended.put((attempt, outcome)),
        )
        self._running.add(attempt)
        attempt.start()

    def _release(self, job: Job) -> None:
        try:
            self._crew.queue.release(self._crew.caller, job.id, lease_token=job.lease_token)
            outcome = Outcome.RELEASED
        except (JobNotHeld, Unavailable):
            outcome = Outcome.UNREPORTED  # the lease runs out
        telemetry.decision(ACTION, outcome, job)
        self._outcomes[outcome] += 1

    def _note_backlog(self) -> None:
        if self._tell_backlog:
            self._tell_backlog = False
            self._on_backlog()

    def _promise_is_open(self) -> bool:
        """Tell whether a promised job is still to be had though no look has found it."""
        if self._crew.monotonic() >= self._began + PATIENCE_SECONDS:
            self._promised.clear()
        self._promised = {job_id for job_id in self._promised if self._is_pending(job_id)}
        return bool(self._promised)

    def _is_pending(self, job_id: str) -> bool:
        try:
            job = self._crew.queue.get(self._crew.caller, job_id)
            # a paused queue keeps its jobs, however long one looks
            return job.status is JobStatus.PENDING and bool(self._crew.queue.open_queues((job.queue,)))
        except JobNotFound:
            return False
        except Unavailable:
            return True

    def _until_look(self) -> float:
        if len(self._running) == self._crew.concurrency:
            return _WHILE_OTHERS_RUN_SECONDS
        return self._next_look - self._crew.monotonic()

    def _pause(self, longest: float) -> None:
        """Wait until a job ends or `longest` seconds are over, but not beyond the time that is left."""
        remaining = self._remaining()
        if remaining <= STOPPING_SECONDS:
            self._tools.stopping.set()
        seconds = max(0.0, min(longest, remaining - LEAVE_SECONDS))
        if not self._running:
            self._crew.sleep(seconds)
            return
        try:
            self._note_end(*self._ended.get(timeout=seconds))
        except Empty:
            return
        self._note_ends()

    def _note_ends(self) -> None:
        while not self._ended.empty():
            self._note_end(*self._ended.get())

    def _note_end(self, attempt: Attempt, outcome: Outcome) -> None:
        self._running.discard(attempt)
        self._outcomes[outcome] += 1

    def _leave(self) -> None:
        self._note_ends()
        for attempt in self._running:
            attempt.abandon()
            self._outcomes[Outcome.ABANDONED] += 1
