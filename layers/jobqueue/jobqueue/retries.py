"""The retry rules of this deployment: what its types declare, its defaults, and the jitter."""

from __future__ import annotations

import random
from datetime import datetime

from jobqueue import lifecycle
from jobqueue.job import Job
from jobqueue.jobtype import JobTypes
from jobqueue.lifecycle import Backoff, Decision


class Retries:
    """Decides what follows a failure.

    Parameters
    ----------
    job_types : JobTypes
        The policies that types declare.
    default : Backoff
        For types that declare none.
    rng : random.Random
        Where the jitter comes from.
    """

    def __init__(self, job_types: JobTypes, default: Backoff, rng: random.Random) -> None:
        self._job_types = job_types
        self._default = default
        self._rng = rng

    def backoff(self, type_name: str) -> Backoff:
        """Return the backoff of a type; an unknown type has the default one."""
        policy = self._job_types.policy(type_name)
        base, cap = policy.backoff_base_seconds, policy.backoff_cap_seconds
        return Backoff(
            base_seconds=self._default.base_seconds if base is None else base,
            cap_seconds=self._default.cap_seconds if cap is None else cap,
        )

    def after_failure(
        self, job: Job, now: datetime, *, retry_in_seconds: float | None = None, discard: bool = False
    ) -> Decision:
        """Decide what follows a failed attempt, or a lease that ran out (see `lifecycle.after_failure`)."""
        return lifecycle.after_failure(
            job,
            now,
            self.backoff(job.type),
            self._rng.random(),
            retry_in_seconds=retry_in_seconds,
            discard=discard,
        )
