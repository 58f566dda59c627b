"""Measures what a job costs and prints it: ``make bench``. Also written as JSON to ``.bench/bench.json``.

Everything is a count, or a ratio of two measurements of one run: seconds of this machine mean nothing on
another one.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from tests.bench import (
    contended,
    depth,
    followed,
    life,
    payloads,
    prices,
    startup,
    table,
    targets,
    usage,
    warm,
)
from tests.bench.meter import Bill
from tests.bench.targets import Target
from tests.dynamodb.contention import JOBS
from tests.support import dynamodb_local
from tests.support.template import ROOT

OUTPUT = ROOT / ".bench" / "bench.json"
SIZES = {"0.3 KB": 300, "4 KB": 4096, "32 KB": 32768}
DEPTHS = (10, 1_000, 100_000)
CLAIMERS = (1, 4, 16, 64)
DATABASE = "bench"
TOGETHER = 100
"""Records of the stream in one batch, where there is something to do; 1 is a quiet queue, 500 the most."""

_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
}


Section: TypeAlias = tuple[str, str, Any, Iterable[Target]]
"""Its name, its table, its figures as JSON has them, and what is aimed at."""


def main() -> None:
    """Measure, print, write."""
    os.environ.update(_CREDENTIALS)
    logging.disable(logging.CRITICAL)
    measured: dict[str, Any] = {}
    aims: list[Target] = []
    with dynamodb_local.running() as url:
        for section in (_operations, _lives, _dollars, _contention, _depths, _starts, _invocations):
            name, text, figures, aimed_at = section(url)
            print(text, flush=True)
            measured[name] = figures
            aims += aimed_at
    print(targets.told(aims))
    measured["targets"] = [{**asdict(one), "met": one.is_met} for one in aims]
    OUTPUT.parent.mkdir(exist_ok=True)
    Path(OUTPUT).write_text(json.dumps(measured, indent=2) + "\n")
    print(f"Written to {OUTPUT.relative_to(ROOT)}.")


def _operations(url: str) -> Section:
    costs = {
        label: life.our_life(dynamodb_local.connect_anew(url, DATABASE), payloads.ordinary(size))
        for label, size in SIZES.items()
    }
    names = [cost.operation for cost in costs["0.3 KB"]]
    rows = [
        [
            name,
            *(_units(cost.bill) for of_size in costs.values() for cost in of_size if cost.operation == name),
        ]
        for name in names
    ]
    text = table.markdown(
        "One operation, by the size of the payload: calls / write units / read units",
        ["operation", *SIZES],
        rows,
    )
    figures = {
        label: {cost.operation: asdict(cost.bill) for cost in of_size} for label, of_size in costs.items()
    }
    return "operations", text, figures, ()


def _lives(url: str) -> Section:
    rows, found = [], {}
    for label, size in SIZES.items():
        lives = {
            "ours": life.whole_life(
                life.our_life(dynamodb_local.connect_anew(url, DATABASE), payloads.ordinary(size))
            ),
            "ours, incompressible": life.whole_life(
                life.our_life(dynamodb_local.connect_anew(url, DATABASE), payloads.incompressible(size))
            ),
            "sample": life.whole_life(
                life.sample_life(dynamodb_local.connect_anew(url, DATABASE), payloads.ordinary(size))
            ),
        }
        found[label] = lives
        rows.append([label, *(_units(bill) for bill in lives.values())])
    text = table.markdown(
        "A whole life (enqueue, claim, complete): calls / write units / read units. `sample`: the same life"
        f" as AWS's sample of a priority queue leads it, {life.WAITING} jobs waiting",
        ["payload", "ours", "ours, incompressible", "sample"],
        rows,
    )
    figures = {label: {name: asdict(bill) for name, bill in lives.items()} for label, lives in found.items()}
    return "lives", text, figures, targets.of_lives(found)


def _dollars(url: str) -> Section:
    payload = payloads.ordinary(SIZES["0.3 KB"])
    busy, quiet = (followed.followed(url, payload, together=records) for records in (TOGETHER, 1))
    used = {
        "one by one, 3 requests a job": usage.one_by_one(url, payload),
        f"in batches of {usage.BATCH}": usage.in_batches(url, payload),
        f"worked by work_jobs, {usage.BATCH} an invocation": usage.worked(url, payload),
    }
    priced = {how: prices.million_jobs(one, busy) for how, one in used.items()}
    alone = prices.million_jobs(used["one by one, 3 requests a job"], quiet)
    text = table.markdown(
        f"Dollars for a million jobs of 0.3 KB, their records followed by {TOGETHER}s"
        f" (one by one: {alone.following:.2f}). Left out: {prices.EXCLUDED}",
        ["how", "DynamoDB", "HTTP API", "Lambda", "follow_jobs", "logs", "all"],
        [
            [how, cost.dynamodb, cost.api, cost.functions, cost.following, cost.logs, cost.total]
            for how, cost in priced.items()
        ],
    )
    figures = {
        "priced": {how: {**asdict(cost), "total": cost.total} for how, cost in priced.items()},
        "used": {how: asdict(one) for how, one in used.items()},
        "followed": {str(TOGETHER): asdict(busy), "1": asdict(quiet)},
    }
    return "dollars", text, figures, ()


def _contention(url: str) -> Section:
    measured = [contended.measure(url, claimers) for claimers in CLAIMERS]
    text = table.markdown(
        "Claimers that meet: lost races a claim, dollars of looking and losing for a million claims, and"
        f" places away from first in, first out. Ours: {JOBS} jobs, the median of {contended.RUNS} runs; head"
        f" first: {contended.HEAD_FIRST_JOBS} jobs, {contended.HEAD_FIRST_RUNS} run. By tens: lost races a"
        " job of claims of ten",
        [
            "claimers",
            "head first, lost",
            "ours, lost",
            "head first, $",
            "ours, $",
            "ours, places",
            "by tens, lost",
        ],
        [
            [
                str(one.claimers),
                one.head_first.lost,
                one.ours.lost,
                one.head_first.dollars,
                one.ours.dollars,
                one.ours.displacement,
                "" if one.by_ten is None else one.by_ten.lost,
            ]
            for one in measured
        ],
    )
    return "contention", text, [asdict(one) for one in measured], targets.of_contention(measured)


def _depths(url: str) -> Section:
    bills = {
        waiting: depth.claim_at(dynamodb_local.connect_anew(url, DATABASE), waiting) for waiting in DEPTHS
    }
    rows = [[f"{waiting:,}", _units(bill)] for waiting, bill in bills.items()]
    text = table.markdown("A claim, by the jobs that wait", ["waiting", "calls / write / read units"], rows)
    figures = {waiting: asdict(bill) for waiting, bill in bills.items()}
    return "depth", text, figures, targets.of_depths(bills)


def _starts(_: str) -> Section:
    ratios = startup.ratios()
    text = table.markdown(
        "Start: processor time to import and make the first client, as a ratio to that with boto3 alone",
        ["function", "ratio"],
        [[name, ratio] for name, ratio in ratios.items()],
    )
    return "start", text, ratios, targets.of_starts(ratios)


def _invocations(url: str) -> Section:
    ratios = warm.ratios(url)
    text = table.markdown(
        "Warm: processor time of an invocation, as a ratio to a bare function that makes the same calls",
        ["function", "ratio"],
        [[name, ratio] for name, ratio in ratios.items()],
    )
    return "warm", text, ratios, targets.of_warm(ratios)


def _units(bill: Bill) -> str:
    return f"{bill.calls:g} / {bill.write_units:g} / {bill.read_units:g}"


if __name__ == "__main__":
    main()
