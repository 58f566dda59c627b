"""A queue that lacks one of its conditions is found out by a race, even by a small one."""

from __future__ import annotations

import multiprocessing
from types import ModuleType

import pytest

from jobqueue import conditions, holding, rescue, updates
from tests.dynamodb.checker import violations
from tests.dynamodb.players import Common
from tests.dynamodb.racing import DATABASE, Race, RaceClock, all_jobs, play_and_meddle, work_all
from tests.support.dynamodb_local import connect_anew
from tests.support.tables import create_tables

MODULES: tuple[ModuleType, ...] = (updates, holding, rescue)

# Each compares with the same values as before, since DynamoDB refuses those that nobody looks at.
MUTANTS = {
    "no fencing": (
        "IS_HELD",
        conditions.IS_HELD.replace(
            "#lease_token = :token", "(#lease_token = :token OR attribute_exists(#lease_token))"
        ),
        {"after", "refused"},
    ),
    "every lease is over": (
        "LEASE_IS_OVER",
        f"({conditions.LEASE_IS_OVER} OR attribute_exists(#lease_expires_at))",
        {"at once", "while the lease lasted"},
    ),
    "a claim takes whatever it saw": (
        "IS_PENDING_AS_SEEN",
        f"({conditions.IS_PENDING_AS_SEEN} OR attribute_exists(#status))",
        {"at once"},
    ),
}


def small_race(url: str) -> list[str]:
    """Let four threads race, and return what was wrong."""
    client = connect_anew(url, DATABASE)
    create_tables(client)
    race, clock = (
        Race(processes=1, players=4, jobs=20, turns=40, away=4),
        RaceClock(multiprocessing.get_context("spawn")),
    )
    history = play_and_meddle(race, 0, client, clock)
    history += work_all(Common(client, clock), clock)
    return violations(history, all_jobs(client))


def test_a_small_race_of_the_queue_itself_is_right(url: str) -> None:
    assert small_race(url) == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_found(mutant: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, condition, told = MUTANTS[mutant]
    assert condition != getattr(conditions, name)
    for module in MODULES:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, condition)
    found = small_race(url)
    assert any(part in problem for part in told for problem in found), found
