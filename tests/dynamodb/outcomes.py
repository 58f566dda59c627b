"""What a call of the queue leaves behind, and what it leaves where nothing goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.dynamodb.scenarios import ONE_QUEUE, Scenario
from tests.support.botofaults import Faults
from tests.support.office import Office
from tests.support.tables import empty_tables, table_keys
from tests.support.workshop import Workshop

CALLERS = "callers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """What a call answers, what is stored then, and how many requests it took, without a fault."""

    answer: Any
    items: dict[str, Any]
    requests: int


_known: dict[str, Normal] = {}


def undisturbed(scenario: Scenario, office: Office, faults: Faults) -> Normal:
    """Return what a call does without a fault: always the same."""
    if scenario.name not in _known:
        office = anew(office)
        found = scenario.prepare(office)
        with faults.counted() as requests:
            answer = scenario.call(office, found)
            took = requests()
        _known[scenario.name] = Normal(answer=answer, items=stored(office), requests=took)
    return _known[scenario.name]


def anew(office: Office) -> Office:
    """Begin again with nothing, and with the same time, ids and tokens."""
    empty_tables(office.client)
    return Office(office.client, ONE_QUEUE)


def stored(workshop: Workshop) -> dict[str, Any]:
    """Return all items of all tables, by their keys."""
    return {
        item[key]["S"]: item
        for table, key in table_keys().items()
        for item in workshop.client.scan(TableName=table)["Items"]
    }
