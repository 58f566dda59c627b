"""How a call that reads a job and then writes goes on when the job has moved in between: it decides again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jobqueue.errors import JobNotFound, Unavailable
from jobqueue.item import StoredJob
from jobqueue.table import Refused

MOST_WRITES = 10
"""How often one call writes about a job that moves under it each time, before it gives up."""

Answer = TypeVar("Answer")


def decide(
    stored: StoredJob | None,
    *,
    answer: Callable[[StoredJob], Answer | None],
    write: Callable[[StoredJob], Answer | Refused],
) -> Answer:
    """Decide about a job, again and again until a write finds it as it was decided about.

    Parameters
    ----------
    stored : StoredJob or None
        The job as it was read.
    answer : callable
        Answers by the job as it stands, without a write; None where there is something to write. This is
        also where a write that landed, and was refused when the SDK repeated it, is recognised.
    write : callable
        Decides by the job as it stands, writes, and answers.

    Raises
    ------
    JobNotFound
        There is no such job, or not any more.
    Unavailable
        It never stood still.
    """
    for _ in range(MOST_WRITES):
        known = answer(_there(stored))
        if known is not None:
            return known
        outcome = write(_there(stored))
        if not isinstance(outcome, Refused):
            return outcome
        stored = outcome.old
    known = answer(_there(stored))
    if known is None:
        raise Unavailable
    return known


def _there(stored: StoredJob | None) -> StoredJob:
    if stored is None:
        raise JobNotFound
    return stored
