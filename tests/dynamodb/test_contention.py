"""What claimers that meet cost one another."""

from __future__ import annotations

import math

import pytest

from tests.dynamodb.contention import DATABASE, Lane
from tests.support.dynamodb_local import connect_anew

TRIES = 3
"""How many medians of five runs are looked at: other work on the machine costs races, and never saves one."""


@pytest.fixture(scope="module")
def lane(url: str) -> Lane:
    return Lane(connect_anew(url, DATABASE))


@pytest.mark.parametrize("claimers, batch, lost", [(4, 1, 0.10), (16, 1, 0.40), (16, 10, 0.50)])
def test_few_races_are_lost(claimers: int, batch: int, lost: float, lane: Lane) -> None:
    medians: list[float] = []
    while len(medians) < TRIES and min(medians, default=math.inf) > lost:
        medians.append(lane.typical(claimers, batch=batch).lost)
    assert min(medians) <= lost, medians


@pytest.mark.parametrize("batch", [1, 10])
def test_alone_a_claimer_takes_them_in_turn(batch: int, url: str) -> None:
    found = Lane(connect_anew(url, "alone"), jobs=60).contend(1, batch=batch)
    assert (found.lost, found.displacement) == (0, 0)
    assert found.queries <= 1 / batch + 5 / 60  # the last claim looks at all lanes
