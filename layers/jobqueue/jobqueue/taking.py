"""What it is to take a job: what a claimer asks for, its hold, and how it knows that the job is its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from jobqueue.item import StoredJob
from jobqueue.job import Clock, Job
from jobqueue.jobtype import JobTypes
from jobqueue.table import Refused
from jobqueue.updates import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a claimer asks for.

    Attributes
    ----------
    worker_id : str
        Who will hold the jobs.
    queues : sequence of str
        Where to look.
    lease_seconds : int or None
        How long to hold a job; None takes its type's.
    """

    worker_id: str
    queues: Sequence[str]
    lease_seconds: int | None


class Holds:
    """Makes a hold for each job that is about to be taken.

    Parameters
    ----------
    job_types : JobTypes
        Gives the leases.
    clock, new_token
        Time and lease tokens.
    """

    def __init__(self, job_types: JobTypes, clock: Clock, new_token: Callable[[], str]) -> None:
        self._job_types = job_types
        self._clock = clock
        self._new_token = new_token

    def make(self, type_name: str, wish: Wish) -> Hold:
        """Return a hold that begins now, on a job of this type."""
        now = self._clock()
        seconds = wish.lease_seconds or self._job_types.policy(type_name).lease_seconds
        return Hold(
            worker_id=wish.worker_id,
            token=self._new_token(),
            now=now,
            expires_at=now + timedelta(seconds=seconds),
        )


def taken(outcome: StoredJob | Refused, hold: Hold) -> Job | None:
    """Return the job if it is held now: also when the write was refused by its own earlier success."""
    stored = outcome.old if isinstance(outcome, Refused) else outcome
    if stored is None or stored.job.lease_token != hold.token:
        return None
    return stored.job
