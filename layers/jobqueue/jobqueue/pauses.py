"""Which queues are paused, as a process knows it: from a look that is at most ten seconds old."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
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
    """

    def __init__(self, table: QueuesTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._lock = Lock()
        self._paused: dict[str, bool] = {}
        self._looked_at: dict[str, datetime] = {}
        self._look_again_at: dict[str, datetime] = {}

    def open(self, queues: Sequence[str]) -> tuple[str, ...]:
        """Return those of `queues` that hand out jobs, in their order.

        Raises
        ------
        Unavailable
            If the flag of one cannot be read, and never could.
        """
        with self._lock:  # others who ask meanwhile need the same answer
            now = self._clock()  # before the look: what is paused during it is seen ten seconds from now
            if any(self._is_due(queue, now) for queue in queues):
                self._look(queues, now)
            return tuple(queue for queue in queues if not self._paused[queue])

    def _is_due(self, queue: str, now: datetime) -> bool:
        looked_at = self._looked_at.get(queue)
        # a clock that was set back must not make the look last longer
        return looked_at is None or not looked_at <= now < self._look_again_at[queue]

    def _look(self, queues: Sequence[str], now: datetime) -> None:
        known_for = KNOWN_FOR
        try:
            for name, record in self._table.read(tuple(dict.fromkeys(queues))).items():
                self._paused[name] = record.paused
        except Unavailable:
            if not all(queue in self._paused for queue in queues):
                raise
            known_for = TRIED_AGAIN_AFTER
        for queue in queues:
            self._looked_at[queue] = now
            self._look_again_at[queue] = now + known_for
