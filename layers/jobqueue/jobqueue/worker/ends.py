"""How a handler ended, as it is to be told to the queue."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

from jobqueue.errors import JobQueueError
from jobqueue.lifecycle import MAX_RETRY_IN_SECONDS
from jobqueue.newjob import MAX_DELAY_SECONDS
from jobqueue.worker.handlers import Handler
from jobqueue.worker.outcomes import Cancelled, Discard, LeaseLost, RetryLater, Snooze, within
from jobqueue.worker.run import Run

_MOST_FRAMES = 5


@dataclass(frozen=True, slots=True)
class Completed:
    """The handler returned."""

    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The handler failed.

    Attributes
    ----------
    error : str
        What went wrong; the queue redacts it.
    retry_in_seconds : float or None
        When to try again, in place of the type's backoff.
    discard : bool
        Not to try again.
    error_class : str
        For the log, which never tells the text.
    frames : list of str
        Where it rose.
    """

    error: str
    retry_in_seconds: float | None = None
    discard: bool = False
    error_class: str
    frames: list[str]


@dataclass(frozen=True, slots=True)
class PutOff:
    """The handler wants the job later; None puts it back where it stood."""

    seconds: float | None


End: TypeAlias = Completed | Failed | PutOff


class NoHandler(JobQueueError):
    """The function work_jobs has no handler for the type of the job."""


class Caught:
    """Holds what was raised inside, whatever it is: not even `SystemExit` may take the worker with it."""

    error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True


def call(handler: Handler | None, run: Run) -> End:
    """Call a handler and return how it ended. Never raises."""
    result = None
    with Caught() as caught:
        if handler is None:
            # not discarded: the version of the function that has it may be on its way
            raise NoHandler
        result = handler(run)
    if caught.error is None:
        return Completed(result)
    with Caught():
        return _end(caught.error)
    # what was raised cannot even be looked at, such as a `RetryLater` that never set its seconds
    name = type(caught.error).__name__
    return Failed(error=name, error_class=name, frames=[])


def _end(error: BaseException) -> End:
    try:
        return _as_asked(error)
    except ValueError as wrong:  # a handler may have set anything, whatever the constructor refuses
        return _failed(error, f"{type(error).__name__}: {wrong}")


def _as_asked(error: BaseException) -> End:
    match error:
        case Snooze():
            return PutOff(within(error.seconds, MAX_DELAY_SECONDS) or None)
        case LeaseLost():
            # either the job is another's, which its token tells, or the function's time is over
            return PutOff(None)
        case Cancelled() | Discard():
            return _failed(error, _text(error), discard=True)
        case RetryLater():
            return _failed(error, _text(error), retry_in_seconds=within(error.seconds, MAX_RETRY_IN_SECONDS))
    text = _text(error)
    return _failed(error, f"{type(error).__name__}: {text}" if text else "")


def _failed(
    error: BaseException, text: str, *, retry_in_seconds: float | None = None, discard: bool = False
) -> Failed:
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return Failed(
        error=text or type(error).__name__,
        retry_in_seconds=retry_in_seconds,
        discard=discard,
        error_class=type(error).__name__,
        frames=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    )


def _text(error: BaseException) -> str:
    # also of an error that fails to tell its text
    return str(traceback.TracebackException(type(error), error, None))
