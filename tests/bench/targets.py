"""What is aimed at, and whether this run met it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench import table
from tests.bench.contended import Contended
from tests.bench.meter import Bill
from tests.support.functions import declared

MOST_LOST = {4: 0.10, 16: 0.40}
"""Lost races a claim, by the number of claimers."""
MOST_LOST_IN_BATCHES = 0.50
FEWER_WRITES = 3.0
"""Times fewer write units than the same life uncompressed."""
MOST_AT_DEPTH = 1.10
MOST_TO_START, MOST_TO_START_HTTP = 1.15, 1.45
MOST_WARM = 1.75


@dataclass(frozen=True, slots=True)
class Target:
    """One number that this run measured, and where it should be.

    Attributes
    ----------
    what : str
        What was measured.
    found : float
        The number.
    limit : float
        The most that it should be, or the least.
    at_least : bool
        Which of the two.
    """

    what: str
    found: float
    limit: float
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the number is where it should be."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit


def of_lives(lives: Mapping[str, Mapping[str, Bill]]) -> Iterator[Target]:
    """Return what is aimed at for large payloads, by the size of the payload and who leads the life."""
    for size, of_size in lives.items():
        if size != "0.3 KB":
            fewer = of_size["ours, incompressible"].write_units / of_size["ours"].write_units
            what = f"{size} payload: times fewer write units than uncompressed"
            yield Target(what, fewer, FEWER_WRITES, at_least=True)


def of_contention(measured: Iterable[Contended]) -> Iterator[Target]:
    """Return what is aimed at for claimers that meet."""
    for one in measured:
        if one.claimers not in MOST_LOST:
            continue
        alone = f"{one.claimers} claimers: lost races a claim"
        yield Target(alone, one.ours.lost, MOST_LOST[one.claimers])
        if one.by_ten is not None:
            tens = f"{one.claimers} claimers by tens: lost races a job"
            yield Target(tens, one.by_ten.lost, MOST_LOST_IN_BATCHES)


def of_depths(bills: Mapping[int, Bill]) -> Iterator[Target]:
    """Return what is aimed at for a claim from a deep lane."""
    least, most = bills[min(bills)], bills[max(bills)]
    what = f"claim with {max(bills):,} jobs waiting, to one with {min(bills):,}"
    yield Target(what, most.calls / least.calls, MOST_AT_DEPTH)


def of_starts(ratios: Mapping[str, float]) -> Iterator[Target]:
    """Return what is aimed at for a start: the slowest of the API's functions, and each of the others."""
    http = {name for name, function in declared().items() if _is_http(function)}
    slowest = max(http, key=lambda name: ratios[name])
    yield Target(f"start of {slowest}, the slowest of the API", ratios[slowest], MOST_TO_START_HTTP)
    for name in ratios:
        if name not in http:
            yield Target(f"start of {name}", ratios[name], MOST_TO_START)


def of_warm(ratios: Mapping[str, float]) -> Iterator[Target]:
    """Return what is aimed at for a request: the slowest."""
    slowest = max(ratios, key=lambda name: ratios[name])
    yield Target(f"warm {slowest}, the slowest", ratios[slowest], MOST_WARM)


def told(targets: Iterable[Target]) -> str:
    """Write them all, with what became of each."""
    rows = [
        [
            target.what,
            target.found,
            f"{'at least' if target.at_least else 'at most'} {target.limit:g}",
            "met" if target.is_met else "missed",
        ]
        for target in targets
    ]
    return table.markdown("What is aimed at", ["what", "found", "aim", ""], rows)


def _is_http(function: Mapping[str, Any]) -> bool:
    return any(event["Type"] == "HttpApi" for event in function.get("Events", {}).values())
