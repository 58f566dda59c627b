"""Retry in bulk: bounded steps until all is done, and knowing when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from jobqueue_client.client import Client
from jobqueue_client.errors import Unavailable
from jobqueue_client.queues import Retried

STEP = 100
"""How many jobs one call retries at most."""

_PATIENCE = 5
_PAUSE_SECONDS = 0.5


class BulkRetry:
    """One retry in bulk, and how far it came.

    Parameters
    ----------
    client : Client
        The API.
    queue, job_type, status, finished_before : str, datetime or None
        Which jobs.
    most : int
        How many at most. A job that fails again at once would otherwise keep it going for ever.

    Attributes
    ----------
    retried, skipped : int
        Jobs so far.
    more : bool
        Whether there are more.
    is_unsure : bool
        Whether an answer was lost, so that more jobs may have been retried than were counted.
    is_stuck : bool
        Whether it gave up because the API came no further.
    """

    def __init__(
        self,
        client: Client,
        queue: str,
        *,
        job_type: str | None,
        status: str,
        finished_before: datetime | None,
        most: int,
    ) -> None:
        self._client = client
        self._queue = queue
        self._job_type = job_type
        self._status = status
        self._most = most
        self._finished_before = finished_before
        self.retried = 0
        self.skipped = 0
        self.more = True
        self.is_unsure = False
        self.is_stuck = False

    def counted(self) -> str:
        """Return how many jobs were retried, in words."""
        number = f"{self.retried:,} {'job' if self.retried == 1 else 'jobs'}"
        return f"at least {number}" if self.is_unsure else number

    def run(self) -> Iterator[int]:
        """Retry, and return after each step how many jobs that were so far.

        Raises
        ------
        ClientError
            What a step ended in.
        """
        idle = 0
        while self.more and self.retried < self._most:
            step = self._step()
            self.retried += step.retried
            self.skipped += step.skipped
            self.more = step.more
            yield self.retried
            if step.retried:
                idle = 0
                continue
            # jobs that are pending again can be seen as failed for a moment more, and hide what is behind
            if self.more and idle == _PATIENCE:
                self.is_stuck = True
                return
            idle += 1
            if self.more:
                self._client.clock.sleep(_PAUSE_SECONDS * 2**idle)

    def _step(self) -> Retried:
        limit = min(STEP, self._most - self.retried)
        try:
            return self._client.retry_failed(
                self._queue,
                job_type=self._job_type,
                status=self._status,
                limit=limit,
                finished_before=self._finished_before,
            )
        except Unavailable as error:
            if not error.may_have_landed:
                raise
            # what it did need not be known for going on: the next step finds what is left
            self.is_unsure = True
            return Retried(0, 0, more=True)
