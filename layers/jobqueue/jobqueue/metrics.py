"""Numbers for CloudWatch, written into the log in its embedded metric format.

==================  =======  ===========================================================================
metric              by       one value for each
==================  =======  ===========================================================================
Enqueued            q, t     new job
Replayed            q, t     enqueue that found its job there already, by its idempotency key
Claimed             q, t     job that was handed to a worker
Completed           q, t     job that was completed
Retried             q, t     attempt that failed and will be repeated
Failed              q, t     job that failed for good
Rescued             q, t     attempt whose lease ran out
LostRaces           q, t     claim that found its job taken
WaitSeconds         q, t     job that was claimed: from when it was available
RunSeconds          q, t     attempt that its worker ended: from its claim
Depth               q, p     minute: jobs that wait, delayed ones included
OldestAgeSeconds    q, p     minute: for how long the oldest job has been ready
==================  =======  ===========================================================================

The dimensions are ``queue``, and ``type`` or ``priority``, beside ``service``. Queues and types are declared
ones, so that their number is known: what a later deployment removed is `OTHER`. What alarms look at is there
by ``service`` alone as well.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from jobqueue.jobtype import JobTypes

OTHER = "other"

_SERVICE = "service"
_MOST_VALUES = 99
"""Of one metric in one line. CloudWatch takes a hundred; Powertools prints the hundredth at once."""


class Metric(StrEnum):
    """What is measured."""

    ENQUEUED = "Enqueued"
    REPLAYED = "Replayed"
    CLAIMED = "Claimed"
    COMPLETED = "Completed"
    RETRIED = "Retried"
    FAILED = "Failed"
    RESCUED = "Rescued"
    LOST_RACES = "LostRaces"
    WAIT = "WaitSeconds"
    RUN = "RunSeconds"
    DEPTH = "Depth"
    OLDEST_AGE = "OldestAgeSeconds"

    @property
    def is_distribution(self) -> bool:
        """Whether each value counts, and not their sum."""
        return self in {Metric.WAIT, Metric.RUN, Metric.OLDEST_AGE}

    @property
    def is_watched(self) -> bool:
        """Whether an alarm looks at it, over all queues."""
        return self in {Metric.FAILED, Metric.RESCUED, Metric.OLDEST_AGE}


class Measures:
    """Values on their way into the log. Nothing is kept between two of these.

    The same names with other dimensions are other metrics, and each set of dimensions has a line of its own:
    one line for two would give each the values of both.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[tuple[str, str], ...], dict[Metric, list[float]]] = {}

    def add(self, metric: Metric, value: float, **dimensions: str) -> None:
        """Take a value down."""
        by_metric = self._values.setdefault(tuple(dimensions.items()), defaultdict(list))
        values = by_metric[metric]
        if values and not metric.is_distribution:
            values[0] += value
        else:
            values.append(value)

    def write(self) -> None:
        """Write all that was taken down, and forget it."""
        taken, self._values = self._values, {}
        for dimensions, by_metric in taken.items():
            for is_watched in (False, True):
                chosen = {
                    metric: values for metric, values in by_metric.items() if metric.is_watched is is_watched
                }
                if chosen:
                    _write(chosen, dimensions, over_all=is_watched)


def count(metric: Metric, **dimensions: str) -> None:
    """Write that it happened once, at once."""
    measures = Measures()
    measures.add(metric, 1, **dimensions)
    measures.write()


def labels(job_types: JobTypes, queue: str, type_name: str) -> dict[str, str]:
    """Return the dimensions of what is told of a job."""
    return {
        "queue": queue if job_types.has_queue(queue) else OTHER,
        "type": type_name if job_types.get(type_name) else OTHER,
    }


def _write(
    by_metric: Mapping[Metric, Sequence[float]], dimensions: Sequence[tuple[str, str]], *, over_all: bool
) -> None:
    longest = max(len(values) for values in by_metric.values())
    for first in range(0, longest, _MOST_VALUES):
        line = EphemeralMetrics(
            namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "jobqueue"),
            service=os.environ.get("POWERTOOLS_SERVICE_NAME", "jobqueue"),
        )
        for name, label in dimensions:
            line.add_dimension(name, label)
        if over_all and line.service:
            line.add_dimensions(**{_SERVICE: line.service})
        for metric, values in by_metric.items():
            unit = MetricUnit.Seconds if metric.is_distribution else MetricUnit.Count
            for value in values[first : first + _MOST_VALUES]:
                line.add_metric(metric.value, unit, value)
        # in one piece, unlike print: other threads write as well
        sys.stdout.write(json.dumps(line.serialize_metric_set(), separators=(",", ":")) + "\n")
