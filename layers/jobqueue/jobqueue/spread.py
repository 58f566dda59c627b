"""How claimers of one lane keep out of one another's way."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from jobqueue.item import LaneEntry
from jobqueue.job import Clock
from jobqueue.table import JobsTable

PAGE = 10
"""Entries to look at: about as many as are read for the price of one."""

LARGEST_PAGE = 400
WIDEST_WINDOW = 48.0
"""Beyond it, wider pages cost more than the races that they save."""

CALM = 300
"""Wins in a row after which a window is back at one at the latest."""

CALM_SECONDS = 60
"""Without a lost race, after which it is back at one too, however few jobs there were to win."""

REMEMBERED = 500
WAVE_GROWTH = 3


class Window:
    """Over how many candidates a claimer spreads itself. Kept while the process is warm.

    A lost race doubles it, to a page at least, since a page costs the same however it is used. A win makes
    it smaller, and the more so the longer no race was lost. So among few others it stays where about one
    race in fifteen is lost, and alone it is back at one after some forty jobs, or a minute.

    Parameters
    ----------
    rng : random.Random
        Where the picks come from.
    clock : Clock
        The time now.
    """

    def __init__(self, rng: random.Random, clock: Clock) -> None:
        self._rng = rng
        self._clock = clock
        self._width = 1.0
        self._calm = 0
        self._lost_at = clock()

    def entries(self, wanted: int) -> int:
        """Return how many entries to look at for so many jobs."""
        if (self._clock() - self._lost_at).total_seconds() >= CALM_SECONDS:
            self._width = 1.0
        return min(LARGEST_PAGE, max(PAGE, wanted * int(self._width)))

    def choose(self, candidates: Sequence[LaneEntry], wanted: int) -> Sequence[LaneEntry]:
        """Return up to `wanted` candidates that stand side by side, beginning at one within the window."""
        span = min(len(candidates), wanted * int(self._width))
        first = self._rng.randrange(max(1, span - wanted + 1))
        return candidates[first : first + wanted]

    def won(self) -> None:
        """Draw closer to the head of the lane."""
        self._calm += 1
        self._width = max(1.0, self._width * (1 - self._calm / CALM))

    def lost(self) -> None:
        """Spread out."""
        self._calm = 0
        self._lost_at = self._clock()
        self._width = min(WIDEST_WINDOW, max(PAGE, self._width * 2))


class Settled:
    """Remembers entries that were tried, since an index that lags shows them still.

    An entry is known by its place and its `rev`: whatever became of the job, it never stands there again
    with that `rev`. The memory is of this process and bounded; what it forgets costs one more lost race.
    """

    def __init__(self) -> None:
        self._recent: set[tuple[str, int]] = set()
        self._older: set[tuple[str, int]] = set()

    def add(self, entry: LaneEntry) -> None:
        """Remember an entry, and forget the older half of the memory when the newer half is full."""
        self._recent.add((entry.lane_order, entry.rev))
        if len(self._recent) >= REMEMBERED:
            self._older, self._recent = self._recent, set()

    def __contains__(self, entry: LaneEntry) -> bool:
        """Tell whether the entry was tried."""
        known = (entry.lane_order, entry.rev)
        return known in self._recent or known in self._older


class Look:
    """What one call sees of the jobs that wait in some lanes of a queue: page by page, lane by lane.

    Parameters
    ----------
    table : JobsTable
        Where the lanes are.
    lanes : sequence of str
        In the order of looking.
    until : str
        The last place of a job that is due.
    settled : Settled
        What is no candidate any more.
    """

    def __init__(self, table: JobsTable, lanes: Sequence[str], until: str, settled: Settled) -> None:
        self._table = table
        self._lanes = lanes
        self._until = until
        self._settled = settled
        self._start: tuple[str, str] | None = None
        self._next: tuple[str, str] | None = None
        self._page: tuple[LaneEntry, ...] | None = None

    def candidates(self, entries: int) -> list[LaneEntry]:
        """Return what may be tried now; nothing when all lanes were seen to their end.

        Parameters
        ----------
        entries : int
            How many to read, where there is something to read.
        """
        while self._lanes:
            if self._page is None:
                page = self._table.index.read(
                    self._lanes[0], limit=entries, start=self._start, until=self._until
                )
                self._page, self._next = page.entries, page.next
            if left := [entry for entry in self._page if entry not in self._settled]:
                return left
            if self._next is None:
                self._lanes = self._lanes[1:]
            self._start, self._page = self._next, None
        return []

    def lost(self, entries: Sequence[LaneEntry]) -> None:
        """Hear that others were faster: if that was here, what was seen is old, and is read again."""
        if self._page is not None and any(entry in self._page for entry in entries):
            self._page = None


def waves(entries: Sequence[LaneEntry]) -> Iterator[Sequence[LaneEntry]]:
    """Cut a batch into what is tried at once: first one, then three, nine.

    The first tells whether somebody else is at the same place, for the price of one lost race and not of
    the whole batch.
    """
    size = 1
    while entries:
        yield entries[:size]
        entries, size = entries[size:], size * WAVE_GROWTH
