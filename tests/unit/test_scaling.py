"""The figures of docs/scaling.md are those that its simulation gives."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.support.template import ROOT

SCALING: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "scaling.py"))
PAGE = (ROOT / "docs" / "scaling.md").read_text()


@pytest.mark.parametrize(("jobs", "shards"), SCALING["SHARDS"].items())
def test_no_lane_takes_more_than_a_partition_gives(jobs: int, shards: int) -> None:
    busiest = SCALING["busiest_lane"](jobs, shards)
    assert busiest <= SCALING["PARTITION_WRITES"]
    assert f"| {jobs:,} | {shards} | {busiest:,} | {SCALING['index_writes'](jobs):,} |" in PAGE


def test_half_the_shards_would_be_too_few() -> None:
    assert SCALING["busiest_lane"](10_000, SCALING["SHARDS"][10_000] // 2) > SCALING["PARTITION_WRITES"]


@pytest.mark.parametrize(("jobs", "shards"), SCALING["SHARDS"].items())
def test_the_shards_named_are_enough_for_an_even_spread(jobs: int, shards: int) -> None:
    assert SCALING["shards_for"](jobs) <= shards


@pytest.mark.parametrize(("jobs", "shards"), SCALING["SHARDS"].items())
def test_claims_and_counts_stay_below_what_a_partition_gives(jobs: int, shards: int) -> None:
    alone, by_ten = (SCALING["busiest_read"](jobs, shards, batch=batch) for batch in (1, 10))
    found = SCALING["followed"](jobs)
    assert by_ten < alone <= SCALING["PARTITION_READS"]
    assert found.item_writes <= SCALING["PARTITION_WRITES"]
    row = (jobs, alone, by_ten, found.records, found.invocations, found.events)
    assert f"| {' | '.join(f'{number:,.0f}' for number in row)} |" in PAGE


def test_a_third_of_the_shards_would_be_read_too_much() -> None:
    fewest = SCALING["SHARDS"][10_000] // 3
    assert SCALING["busiest_read"](10_000, fewest, batch=1) > SCALING["PARTITION_READS"]


def test_what_a_month_of_nothing_costs() -> None:
    dollars = [*SCALING["idle_month"]().values()]
    assert f"| {' | '.join(f'{one:.2f}' for one in [*dollars, sum(dollars)])} |" in PAGE
    for minute in SCALING["IDLE_MINUTE"].values():
        assert f"| {minute.read_units:g} |" in PAGE
