"""What a handler sees of its job, and the ways in which it can end."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol, TypeAlias

from .client import Client
from .jobs import Job, JsonObject, encode

log = logging.getLogger(__package__)

_ERROR_LENGTH = 4_000
"""Characters. The API keeps less, but redacts first: cutting a secret in two here would hide it from that."""

_PROGRESS_BYTES = 1_024
_MAX_RETRY_SECONDS = 604_800
_MAX_SNOOZE_SECONDS = 31_536_000


class Discard(Exception):
    """Raised by a handler: the job can never succeed. It ends as failed, whatever retries it has left."""


class RetryLater(Exception):
    """Raised by a handler: this attempt failed, and the next one shall come after `seconds`.

    Parameters
    ----------
    seconds : float
        0 to 604,800 (seven days), in place of the type's backoff.
    message : str, optional
        What went wrong.
    """

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message)
        self.seconds = _whole_seconds(seconds, _MAX_RETRY_SECONDS)


class Snooze(Exception):
    """Raised by a handler: not now. The job comes again after `seconds`, and this counts as no attempt.

    Parameters
    ----------
    seconds : float
        0 to 31,536,000 (a year).
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = _whole_seconds(seconds, _MAX_SNOOZE_SECONDS)


class Cancelled(Exception):
    """Raised by a handler that stopped since its job was asked to be cancelled. It ends as cancelled."""


class LeaseLost(Exception):
    """Raised by `JobContext.check` when the job is no longer this worker's."""


class JobContext:
    """One job in the hands of a handler.

    Attributes
    ----------
    job : Job
        As it was claimed.
    lost : threading.Event
        Set when the job is no longer this worker's: the API said so, or the lease ran out unextended. Another
        worker may be at it, and whatever the handler returns or raises is not reported.
    cancelled : threading.Event
        Set when somebody asked to cancel the job. A handler that stops for it raises `Cancelled`; returning
        says that the work is done.
    stopping : threading.Event
        Set when the worker is stopping. A long handler can save where it is and raise ``Snooze(0)``.
    """

    def __init__(self, job: Job, *, stopping: Event, on_progress: Callable[[Any], None]) -> None:
        self.job = job
        self.lost = Event()
        self.cancelled = Event()
        self.stopping = stopping
        self._on_progress = on_progress

    @property
    def payload(self) -> JsonObject:
        """The job's payload."""
        return self.job.payload or {}

    def progress(self, value: Any) -> None:
        """Note how far the job is, for those who look at it: soon, in the background, the latest value only.

        Raises
        ------
        TypeError, ValueError
            If `value` is not JSON of at most 1,024 bytes.
        """
        if len(encode(value)) > _PROGRESS_BYTES:
            raise ValueError(f"progress is more than {_PROGRESS_BYTES} bytes")
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


Handler: TypeAlias = Callable[[JobContext], Any]
Handlers: TypeAlias = Mapping[str, Handler]


class Outcome(Protocol):
    """How an attempt ended, as it is reported to the API."""

    def report(self, client: Client, job: Job) -> Job:
        """Make the call that says so."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The handler returned."""

    result: Any

    def report(self, client: Client, job: Job) -> Job:
        """Complete the job."""
        return client.complete(job, self.result)


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler failed."""

    error: str
    retry_in_seconds: int | None = None
    discard: bool = False

    def report(self, client: Client, job: Job) -> Job:
        """Fail the job."""
        return client.fail(job, self.error, retry_in_seconds=self.retry_in_seconds, discard=self.discard)


@dataclass(frozen=True, slots=True)
class PutOff:
    """The handler wants the job later."""

    seconds: int

    def report(self, client: Client, job: Job) -> Job:
        """Release the job."""
        return client.release(job, delay_seconds=self.seconds or None)


def run_handler(handler: Handler, context: JobContext) -> Outcome:
    """Call `handler` and return how it ended. Never raises: a handler must not take the worker with it."""
    try:
        return _run(handler, context)
    except BaseException as error:
        # what was raised cannot even be looked at, such as a `RetryLater` whose seconds are no number
        log.warning("job failed", exc_info=True, extra={"action": "job_failed", "job_id": context.job.id})
        return Failed(type(error.__context__ or error).__name__)


def _run(handler: Handler, context: JobContext) -> Outcome:
    try:
        result = handler(context)
        # tried here, so that a result that is not JSON is the handler's failure
        encode(result)
    except Discard as error:
        return Failed(str(error) or "Discard", discard=True)
    except RetryLater as error:
        return Failed(
            str(error) or "RetryLater", retry_in_seconds=_whole_seconds(error.seconds, _MAX_RETRY_SECONDS)
        )
    except Snooze as error:
        return PutOff(_whole_seconds(error.seconds, _MAX_SNOOZE_SECONDS))
    except Cancelled:
        # what was asked to be cancelled is filed as cancelled; nothing else shall come again either
        return Failed("Cancelled", discard=True)
    except LeaseLost:
        return Failed("LeaseLost")
    except BaseException as error:
        log.warning("job failed", exc_info=True, extra={"action": "job_failed", "job_id": context.job.id})
        return Failed(describe(error))
    return Completed(result)


def describe(error: BaseException) -> str:
    """Return ``Type: message`` of an exception, even of one that cannot say its message."""
    try:
        message = str(error)
    except Exception:
        log.warning("an exception has no text", exc_info=True, extra={"action": "describe_error"})
        message = ""
    name = type(error).__name__
    return f"{name}: {message}"[:_ERROR_LENGTH] if message else name


def _whole_seconds(seconds: float, most: int) -> int:
    if not 0 <= seconds <= most:
        raise ValueError(f"between 0 and {most} seconds, please")
    return math.ceil(seconds)
