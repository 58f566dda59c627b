"""Which queues are paused, as a process knows it: from a look that is at most ten seconds old."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock

from jobqueue.errors import Unavailable
from jobqueue.job import Clock
from jobqueue.queues import QueuesTable

KNOWN_FOR = timedelta(seconds=10)
TRIED_AGAIN_AFTER = timedelta(seconds=1)
"""After a look that failed. What was known before goes on to count meanwhile."""


class Pauses:
    """Tells which queues are open. May be used by several threads.

    Parameters
    ----------
    table : QueuesTable
        Where the flags are.
    clock : Clock
        The time.
    queues : iterable of str
        All that may be asked for. One look tells of them all, so that it is one whichever are claimed from.
    """

    def __init__(self, table: QueuesTable, clock: Clock, queues: Iterable[str]) -> None:
        self._table = table
        self._clock = clock
        self._queues = tuple(queues)
        self._lock = Lock()
        self._paused: frozenset[str] | None = None
        self._looked_at = self._look_again_at = datetime.min.replace(tzinfo=UTC)

    def open(self, queues: Sequence[str]) -> tuple[str, ...]:
        """Return those of `queues` that hand out jobs, in their order.

        Raises
        ------
        Unavailable
            If the flags cannot be read, and never could.
        """
        with self._lock:  # others who ask meanwhile need the same answer
            now = self._clock()  # before the look: what is paused during it is seen ten seconds from now
            paused = self._paused
            # a clock that was set back must not make the look last longer
            if paused is None or not self._looked_at <= now < self._look_again_at:
                paused = self._look(now)
            return tuple(queue for queue in queues if queue not in paused)

    def _look(self, now: datetime) -> frozenset[str]:
        known_for = KNOWN_FOR
        try:
            records = self._table.read(self._queues)
        except Unavailable:
            if self._paused is None:
                raise
            known_for = TRIED_AGAIN_AFTER
        else:
            self._paused = frozenset(name for name, record in records.items() if record.paused)
        self._looked_at, self._look_again_at = now, now + known_for
        return self._paused
