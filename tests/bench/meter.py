"""Counts what DynamoDB bills: calls, write units, read units and refused writes, by operation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.model import OperationModel
    from mypy_boto3_dynamodb import DynamoDBClient

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
READS = frozenset({"GetItem", "Query"})
LEAST_READ = 0.5
_REFUSED = "ConditionalCheckFailedException"


@dataclass(slots=True)
class Bill:
    """What a stretch of work cost.

    Attributes
    ----------
    calls : float
        Requests to DynamoDB.
    write_units, read_units : float
        As DynamoDB reports them, the index included.
    refused : float
        Conditional writes that found something else. Each is billed a write unit for each kilobyte of the
        item that was there, which DynamoDB does not report: one is counted.
    """

    calls: float = 0.0
    write_units: float = 0.0
    read_units: float = 0.0
    refused: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        """Return both together."""
        return Bill(
            calls=self.calls + other.calls,
            write_units=self.write_units + other.write_units,
            read_units=self.read_units + other.read_units,
            refused=self.refused + other.refused,
        )

    def per(self, jobs: float) -> Bill:
        """Return the same for one job of so many."""
        return Bill(
            calls=self.calls / jobs,
            write_units=self.write_units / jobs,
            read_units=self.read_units / jobs,
            refused=self.refused / jobs,
        )


class Meter:
    """Asks every call of a client what it consumed, and adds it up.

    Parameters
    ----------
    client : DynamoDB client
        Its reads and writes of single items and its queries are counted from now on.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._lock = threading.Lock()
        self._bill = Bill()
        events = client.meta.events
        for operation in sorted(WRITES | READS):
            events.register(f"provide-client-params.dynamodb.{operation}", _ask)
            events.register(f"after-call.dynamodb.{operation}", self._count)

    @contextmanager
    def measure(self) -> Iterator[Bill]:
        """Yield a bill that is filled when the block ends."""
        bill = Bill()
        with self._lock:
            before, self._bill = self._bill, bill
        yield bill
        with self._lock:
            self._bill = before

    def _count(self, model: OperationModel, parsed: dict[str, Any], **_: Any) -> None:
        units = float(parsed.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0))
        refused = parsed.get("Error", {}).get("Code") == _REFUSED
        with self._lock:
            bill = self._bill
            bill.calls += 1
            if model.name in READS:
                # a query that finds nothing is billed like a small one, which DynamoDB Local leaves out
                bill.read_units += max(units, LEAST_READ)
            else:
                bill.write_units += 1.0 if refused else units
                bill.refused += refused


def _ask(params: dict[str, Any], **_: Any) -> None:
    params["ReturnConsumedCapacity"] = "TOTAL"
