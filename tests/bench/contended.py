"""Claimers that meet in one lane: ours, beside claimers that always take its head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unittest.mock import patch

from jobqueue.item import LaneEntry
from jobqueue.spread import Window
from tests.dynamodb.contention import Contention, typical

RUNS = 5
HEAD_FIRST_RUNS, HEAD_FIRST_JOBS = 1, 200
"""Fewer: sixty-four claimers that always take the head lose for minutes. The title of the table says so."""

BATCH, BATCH_CLAIMERS = 10, 16


class HeadFirst(Window):
    """Does not spread."""

    def choose(self, candidates: Sequence[LaneEntry], wanted: int) -> Sequence[LaneEntry]:
        """Return the head."""
        return candidates[:wanted]

    def lost(self) -> None:
        """Learn nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contended:
    """What so many claimers cost one another.

    Attributes
    ----------
    claimers : int
        How many there were.
    head_first, ours : Contention
        What a claim cost.
    by_ten : Contention or None
        What a job cost where ours were claimed by tens; measured for one number of claimers.
    """

    claimers: int
    head_first: Contention
    ours: Contention
    by_ten: Contention | None = None


def measure(url: str, claimers: int) -> Contended:
    """Let claimers empty a lane, in each way; ours is the median of five runs."""
    with patch("jobqueue.claiming.Window", HeadFirst):
        head_first = typical(url, claimers, jobs=HEAD_FIRST_JOBS, runs=HEAD_FIRST_RUNS)
    return Contended(
        claimers=claimers,
        head_first=head_first,
        ours=typical(url, claimers, runs=RUNS),
        by_ten=typical(url, claimers, batch=BATCH, runs=RUNS) if claimers == BATCH_CLAIMERS else None,
    )
