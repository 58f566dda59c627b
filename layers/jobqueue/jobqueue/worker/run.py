"""What a handler sees of the attempt that it is."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from jobqueue.job import Job
from jobqueue.worker.outcomes import Cancelled, LeaseLost


class Run:
    """One attempt at a job.

    Attributes
    ----------
    job : Job
        As it was claimed.
    lost : threading.Event
        Set when the job is no longer this worker's, or may not be: another one may be at it already. What
        the handler still does may be done twice.
    cancelled : threading.Event
        Set when somebody asked to cancel the job. A handler that stops for it raises `Cancelled`; returning
        says that the work is done.
    stopping : threading.Event
        Set when the function's time is nearly over. A long handler can note where it is and raise
        ``Snooze(0)``; one that goes on is left to its lease, which counts as a failed attempt.
    """

    def __init__(self, job: Job, *, stopping: Event, on_progress: Callable[[Any], None]) -> None:
        self.job = job
        self.lost = Event()
        self.cancelled = Event()
        self.stopping = stopping
        self._on_progress = on_progress

    def progress(self, value: Any) -> None:
        """Tell how far the job is, for those who look at it. Extends the lease as well.

        Parameters
        ----------
        value : JSON value
            At most 1,024 bytes.

        Raises
        ------
        InvalidRequest
            If `value` is too long, or is not JSON.
        """
        self._on_progress(value)

    def check(self) -> None:
        """Return if the handler may go on: to be called between the steps of long work.

        Raises
        ------
        LeaseLost, Cancelled
            If it may not. Let them rise.
        """
        if self.lost.is_set():
            raise LeaseLost
        if self.cancelled.is_set():
            raise Cancelled
