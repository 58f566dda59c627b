"""The leases that the players of one process know of: each is used by one thread at a time."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobqueue.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A job as its holder knows it, who may have lost it meanwhile.

    Attributes
    ----------
    owner : str
        Who claimed it.
    job : Job
        As it was claimed.
    expires_at : datetime
        When the lease runs out, by the last heartbeat.
    """

    owner: str
    job: Job
    expires_at: datetime


class Leases:
    """Has them, and gives each to one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Held] = []

    def put(self, held: Held) -> None:
        with self._lock:
            self._all.append(held)

    def take(self, owner: str, rng: random.Random, *, over_by: datetime | None = None) -> Held | None:
        """Take any lease of a player, which must be over by then; None if there is none."""
        return self._take(
            lambda held: held.owner == owner and (over_by is None or held.expires_at <= over_by), rng.choice
        )

    def take_of_job(self, job_id: str) -> Held | None:
        """Take the latest lease on a job, whosever it is."""
        return self._take(
            lambda held: held.job.id == job_id, lambda found: max(found, key=lambda held: held.expires_at)
        )

    def held_by(self, owner: str) -> int:
        """Return how many leases a player has, lost ones included."""
        with self._lock:
            return sum(held.owner == owner for held in self._all)

    def jobs(self) -> list[str]:
        """Return the ids of the jobs that are held."""
        with self._lock:
            return [held.job.id for held in self._all]

    def _take(
        self, is_wanted: Callable[[Held], bool], choose: Callable[[Sequence[Held]], Held]
    ) -> Held | None:
        with self._lock:
            found = [held for held in self._all if is_wanted(held)]
            if not found:
                return None
            chosen = choose(found)
            self._all.remove(chosen)
            return chosen
