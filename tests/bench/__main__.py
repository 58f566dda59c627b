"""Measures what a job costs and prints it: ``make bench``. Also written as JSON to ``.bench/bench.json``.

Everything is a count, or a ratio of two measurements of one run: seconds of this machine mean nothing on
another one.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench import contended, depth, life, payloads, prices, startup, table, warm
from tests.bench.meter import Bill
from tests.support import dynamodb_local
from tests.support.template import ROOT

OUTPUT = ROOT / ".bench" / "bench.json"
SIZES = {"0.3 KB": 300, "4 KB": 4096, "32 KB": 32768}
DEPTHS = (10, 1_000, 100_000)
CLAIMERS = (1, 4, 16, 64)
_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def main() -> None:
    """Measure, print, write."""
    os.environ.update(_CREDENTIALS)
    logging.disable(logging.CRITICAL)
    measured: dict[str, Any] = {}
    with dynamodb_local.running() as url:
        for section in (_operations, _lives, _dollars, _contention, _depths, _starts, _invocations):
            name, text, figures = section(url)
            print(text, flush=True)
            measured[name] = figures
    OUTPUT.parent.mkdir(exist_ok=True)
    Path(OUTPUT).write_text(json.dumps(measured, indent=2) + "\n")
    print(f"Written to {OUTPUT.relative_to(ROOT)}.")


def _operations(url: str) -> tuple[str, str, Any]:
    costs = {
        label: life.our_life(dynamodb_local.connect(url), payloads.ordinary(size))
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
    return "operations", text, figures


def _lives(url: str) -> tuple[str, str, Any]:
    rows, figures = [], {}
    for label, size in SIZES.items():
        lives = {
            "ours": life.whole_life(life.our_life(dynamodb_local.connect(url), payloads.ordinary(size))),
            "ours, incompressible": life.whole_life(
                life.our_life(dynamodb_local.connect(url), payloads.incompressible(size))
            ),
            "sample": life.whole_life(life.sample_life(dynamodb_local.connect(url), payloads.ordinary(size))),
        }
        figures[label] = {name: asdict(bill) for name, bill in lives.items()}
        rows.append([label, *(_units(bill) for bill in lives.values())])
    text = table.markdown(
        "A whole life (enqueue, claim, complete): calls / write units / read units. `sample`: the same life"
        f" as AWS's sample of a priority queue leads it, {life.WAITING} jobs waiting",
        ["payload", "ours", "ours, incompressible", "sample"],
        rows,
    )
    return "lives", text, figures


def _dollars(url: str) -> tuple[str, str, Any]:
    payload = payloads.ordinary(SIZES["0.3 KB"])
    alone = life.whole_life(life.our_life(dynamodb_local.connect(url), payload))
    batched = life.our_batches(dynamodb_local.connect(url), payload)
    priced = {
        "one by one, 3 requests a job": prices.million_jobs(alone, requests=3),
        f"in batches of {life.BATCH}": prices.million_jobs(batched, requests=3 / life.BATCH),
        f"worked by work_jobs, {life.BATCH} an invocation": prices.million_jobs(
            batched, requests=1, invocations=1 / life.BATCH
        ),
    }
    text = table.markdown(
        "Dollars for a million jobs of 0.3 KB (prices and assumptions: tests/bench/prices.py)",
        ["how", "DynamoDB", "HTTP API", "Lambda", "all"],
        [[how, cost.dynamodb, cost.api, cost.functions, cost.total] for how, cost in priced.items()],
    )
    return "dollars", text, {how: {**asdict(cost), "total": cost.total} for how, cost in priced.items()}


def _contention(url: str) -> tuple[str, str, Any]:
    measured = [contended.measure(url, claimers) for claimers in CLAIMERS]
    text = table.markdown(
        "Claimers that meet: lost races a claim, dollars of looking and losing for a million claims, and"
        " places away from first in, first out",
        ["claimers", "head first, lost", "ours, lost", "head first, $", "ours, $", "ours, places"],
        [
            [
                str(one.claimers),
                one.head_first.lost,
                one.ours.lost,
                one.head_first.dollars,
                one.ours.dollars,
                one.ours.displacement,
            ]
            for one in measured
        ],
    )
    return "contention", text, [asdict(one) for one in measured]


def _depths(url: str) -> tuple[str, str, Any]:
    bills = {waiting: depth.claim_at(dynamodb_local.connect(url), waiting) for waiting in DEPTHS}
    rows = [[f"{waiting:,}", _units(bill)] for waiting, bill in bills.items()]
    text = table.markdown("A claim, by the jobs that wait", ["waiting", "calls / write / read units"], rows)
    return "depth", text, {waiting: asdict(bill) for waiting, bill in bills.items()}


def _starts(_: str) -> tuple[str, str, Any]:
    ratios = startup.ratios()
    text = table.markdown(
        "Start: processor time to import and make the first client, as a ratio to that with boto3 alone",
        ["function", "ratio"],
        [[name, ratio] for name, ratio in ratios.items()],
    )
    return "start", text, ratios


def _invocations(url: str) -> tuple[str, str, Any]:
    ratios = warm.ratios(url)
    text = table.markdown(
        "Warm: processor time of an invocation, as a ratio to a bare function that makes the same calls",
        ["function", "ratio"],
        [[name, ratio] for name, ratio in ratios.items()],
    )
    return "warm", text, ratios


def _units(bill: Bill) -> str:
    return f"{bill.calls:g} / {bill.write_units:g} / {bill.read_units:g}"


if __name__ == "__main__":
    main()
