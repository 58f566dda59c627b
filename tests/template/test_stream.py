"""Which changes of the table wake the worker function: jobs of its queues that became ready."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.filters import matches
from tests.support.functions import declared
from tests.support.lambdas import event
from tests.support.template import template

(NEW,) = event("work_jobs")["Records"]
QUEUES = ["default", "mail"]


def patterns() -> list[Mapping[str, Any]]:
    """Return the filter of the event source, for two queues."""
    (source,) = [one for one in declared()["work_jobs"]["Events"].values() if one["Type"] == "DynamoDB"]
    return [
        json.loads(_substituted(one["Pattern"])) for one in source["Properties"]["FilterCriteria"]["Filters"]
    ]


def _substituted(pattern: Any) -> str:
    text, names = pattern["Fn::Sub"]
    assert names == {"Queues": {"Fn::Join": ['","', {"Ref": "WorkerQueues"}]}}
    return str(text.replace("${Queues}", '","'.join(QUEUES)))


def wakes(record: Mapping[str, Any]) -> bool:
    return any(matches(record, pattern) for pattern in patterns())


def record(name: str, new: Mapping[str, str], old: Mapping[str, str] | None = None) -> dict[str, Any]:
    image = NEW["dynamodb"]["NewImage"]
    images = {"NewImage": image | {key: {"S": value} for key, value in new.items()}}
    if old is not None:
        images["OldImage"] = image | {key: {"S": value} for key, value in old.items()}
    return {**NEW, "eventName": name, "dynamodb": {**NEW["dynamodb"], **images}}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_new_job_of_a_worked_queue_wakes(queue: str) -> None:
    assert wakes(record("INSERT", {"queue": queue}))


@pytest.mark.parametrize("status", ["running", "failed", "cancelled", "completed"])
def test_a_job_that_waits_again_wakes(status: str) -> None:
    assert wakes(record("MODIFY", {}, {"status": status}))


@pytest.mark.parametrize(
    "changed",
    [
        record("INSERT", {"queue": "external"}),
        record("MODIFY", {"queue": "external"}, {"status": "running"}),
        record("MODIFY", {"status": "running"}, {}),
        record("MODIFY", {"status": "completed"}, {"status": "running"}),
        record("MODIFY", {"status": "running"}, {"status": "running"}),
        record("MODIFY", {}, {}),
        {"eventName": "REMOVE", "dynamodb": {"OldImage": NEW["dynamodb"]["NewImage"]}},
    ],
    ids=["new-elsewhere", "again-elsewhere", "claimed", "completed", "extended", "still-pending", "removed"],
)
def test_nothing_else_wakes(changed: dict[str, Any]) -> None:
    assert not wakes(changed)


def test_the_worked_queues_are_declared_with_names_that_a_pattern_can_hold() -> None:
    parameter = template()["Parameters"]["WorkerQueues"]
    assert parameter["Type"] == "CommaDelimitedList"
    assert parameter["AllowedPattern"] == "[a-z0-9_-]{1,64}"
