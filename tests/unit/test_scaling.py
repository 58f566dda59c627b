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
