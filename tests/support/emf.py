"""Metrics as CloudWatch reads them out of the log: its embedded metric format.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

MOST_VALUES = 100
MOST_DIMENSIONS = 30


@dataclass(frozen=True)
class Told:
    """Values of one metric, under one of its sets of dimensions."""

    namespace: str
    metric: str
    unit: str
    dimensions: dict[str, str]
    values: list[float]


def told(log: str) -> list[Told]:
    """Return what a log tells CloudWatch; a line that CloudWatch would drop is an error."""
    return [one for line in log.splitlines() if '"_aws"' in line for one in _of_line(line)]


def total(log: str, metric: str, **dimensions: str) -> float:
    """Return the sum of a metric under exactly these dimensions, beside the service."""
    return sum(values(log, metric, **dimensions))


def values(log: str, metric: str, **dimensions: str) -> list[float]:
    """Return the values of a metric under exactly these dimensions, beside the service."""
    wanted = {"service": "jobqueue", **dimensions}
    return [
        value
        for one in told(log)
        if one.metric == metric and one.dimensions == wanted
        for value in one.values
    ]


def _of_line(line: str) -> Iterator[Told]:
    document = json.loads(line)
    assert isinstance(document["_aws"]["Timestamp"], int)
    for directive in document["_aws"]["CloudWatchMetrics"]:
        for metric in directive["Metrics"]:
            found = document[metric["Name"]]
            listed = found if isinstance(found, list) else [found]
            assert 1 <= len(listed) <= MOST_VALUES
            for names in directive["Dimensions"]:
                assert len(names) <= MOST_DIMENSIONS
                yield Told(
                    namespace=directive["Namespace"],
                    metric=metric["Name"],
                    unit=metric["Unit"],
                    dimensions={name: document[name] for name in names},
                    values=listed,
                )
