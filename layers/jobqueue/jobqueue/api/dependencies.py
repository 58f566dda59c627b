"""What the functions need from outside: the queue of this deployment, opened once for each process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from jobqueue.jobtype import JobTypes
from jobqueue.queue import JobQueue, open_queue
from jobqueue.settings import Settings
from jobtypes import JOB_TYPES

_LAMBDA_STARTS = "AWS_LAMBDA_INITIALIZATION_TYPE"
"""Set by Lambda while it starts a process."""


@dataclass(frozen=True, slots=True)
class _Opened:
    queue: JobQueue
    job_types: JobTypes


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


def open_early() -> None:
    """Open the queue while Lambda starts the process: that time has a whole CPU, calls may have less.

    Elsewhere the first call opens it, so that a function can be imported without its environment.
    """
    if _LAMBDA_STARTS in os.environ:
        queue()


@contextmanager
def using(queue: JobQueue, job_types: JobTypes = JOB_TYPES) -> Iterator[None]:
    """Let all functions use another queue: for tests, which give their own clock, client and types."""
    _instead.append(_Opened(queue, job_types))
    try:
        yield
    finally:
        _instead.pop()


def _current() -> _Opened:
    return _instead[-1] if _instead else _of_environment()


@cache
def _of_environment() -> _Opened:
    return _Opened(open_queue(Settings.from_env(), JOB_TYPES), JOB_TYPES)
