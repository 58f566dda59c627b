"""What the functions need from outside: the queues of this deployment, opened once for each process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from jobqueue.jobtype import JobTypes
from jobqueue.queue import JobQueue, open_queue
from jobqueue.settings import CallerLimit, Settings
from jobtypes import JOB_TYPES

if TYPE_CHECKING:
    from jobqueue.operating import Operator
    from jobqueue.throttle import Throttle

_LAMBDA_STARTS = "AWS_LAMBDA_INITIALIZATION_TYPE"
"""Set by Lambda while it starts a process."""


@dataclass(frozen=True, slots=True)
class _Opened:
    queue: JobQueue
    job_types: JobTypes
    operator: Operator | None = None
    throttle: Throttle | None = None


_instead: list[_Opened] = []


def queue() -> JobQueue:
    """Return the queue that the environment names.

    Raises
    ------
    InvalidSettings
        If the environment is not usable.
    """
    return _current().queue


def job_types() -> JobTypes:
    """Return the types of job of this deployment."""
    return _current().job_types


def operator() -> Operator:
    """Return who operates the queues that the environment names.

    Raises
    ------
    InvalidSettings
        If the environment is not usable.
    """
    return (_instead[-1].operator if _instead else None) or _operator_of_environment()


def throttle() -> Throttle | None:
    """Return what counts the requests of callers; None where the environment sets them no limit.

    Raises
    ------
    InvalidSettings
        If the environment is not usable.
    """
    return _instead[-1].throttle if _instead else _throttle_of_environment()


def open_early(opens: Callable[[], object] = queue) -> None:
    """Open what a function asks while Lambda starts the process.

    That time has a whole CPU, calls may have less. Elsewhere the first call opens it, so that a function can
    be imported without its environment.
    """
    if _LAMBDA_STARTS in os.environ:
        opens()
        throttle()


@contextmanager
def using(
    queue: JobQueue,
    job_types: JobTypes = JOB_TYPES,
    operator: Operator | None = None,
    throttle: Throttle | None = None,
) -> Iterator[None]:
    """Let all functions use another queue: for tests, which give their own clock, client and types."""
    _instead.append(_Opened(queue, job_types, operator, throttle))
    try:
        yield
    finally:
        _instead.pop()


def _current() -> _Opened:
    return _instead[-1] if _instead else _of_environment()


@cache
def _of_environment() -> _Opened:
    return _Opened(open_queue(Settings.from_env(), JOB_TYPES), JOB_TYPES)


@cache
def _operator_of_environment() -> Operator:
    from jobqueue.operating import open_operator

    return open_operator(Settings.from_env(), JOB_TYPES)


@cache
def _throttle_of_environment() -> Throttle | None:
    limit = CallerLimit.from_env()
    if limit is None:
        return None
    from jobqueue.throttle import open_throttle

    return open_throttle(limit)
