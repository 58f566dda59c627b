"""What claimers that meet cost one another."""

from __future__ import annotations

import pytest

from tests.dynamodb.contention import DATABASE, contend, typical
from tests.support.dynamodb_local import connect_anew

# What is aimed at is 0.10, 0.40 and 0.50; a machine that does other things as well is given some room.
ROOM = 1.5


@pytest.mark.parametrize("claimers, batch, lost", [(4, 1, 0.10), (16, 1, 0.40), (16, 10, 0.50)])
def test_few_races_are_lost(claimers: int, batch: int, lost: float, url: str) -> None:
    assert typical(url, claimers, batch=batch, runs=3).lost <= ROOM * lost


@pytest.mark.parametrize("batch", [1, 10])
def test_alone_a_claimer_takes_them_in_turn(batch: int, url: str) -> None:
    found = contend(connect_anew(url, DATABASE), 1, batch=batch, jobs=60)
    assert (found.lost, found.displacement) == (0, 0)
    assert found.queries <= 1 / batch + 5 / 60  # the last claim looks at all lanes
