"""The queues table: the only module that knows it. One item for each queue: is it paused, what is in it.

Counters are kept by whoever follows the changes of jobs, one write for each queue and batch of changes. A
batch may come twice, so the item remembers the last ones. A queue without an item is open and empty.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer

from jobqueue.dynamodb import ConditionFailed, faults, make_client, names
from jobqueue.errors import Unavailable
from jobqueue.item import to_item
from jobqueue.job import JobPriority, JobStatus
from jobqueue.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REMEMBERED_BATCHES = 24
"""The latest batches that the item knows at least; twice as many still fit into a billed kilobyte."""

_MOST_KEYS = 100  # that BatchGetItem takes
_PAUSES_BEFORE_ASKING_AGAIN = (0.05, 0.1, 0.2, 0.4)
"""In seconds: for keys that BatchGetItem left out, which the SDK does not ask for again."""

# Conditions.
IS_NEW_BATCH = "NOT contains(#batches, :batch)"
HAS_NO_BATCHES = "attribute_not_exists(#batches)"
# another one may have forgotten the oldest already
OLDEST_IS_AS_SEEN = "#batches[0] = :oldest"
RECOUNT_IS_AS_SEEN = "#recount = :seen"
HAS_NO_RECOUNT = "attribute_not_exists(#recount)"

_deserialize = TypeDeserializer().deserialize


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRecord:
    """What the table tells of a queue.

    Attributes
    ----------
    name : str
        The queue.
    paused : bool
        Whether it hands out no jobs.
    counts : mapping of str to int
        How many jobs it has, by `counter`. Some seconds behind, and for a moment perhaps below zero.
    batches : tuple of str
        The last batches of changes that were counted, the latest one last.
    recount : mapping
        What the last recount left for the next one (see `jobqueue.recounting`).
    """

    name: str
    paused: bool = False
    counts: Mapping[str, int]
    batches: tuple[str, ...] = ()
    recount: Mapping[str, Any] = field(default_factory=dict)


class QueuesTable:
    """Reads and writes of the queues table.

    Parameters
    ----------
    client : DynamoDB client
        Its timeouts and retries are the caller's choice.
    name : str
        The table's name.
    """

    def __init__(self, client: DynamoDBClient, name: str) -> None:
        self._client = client
        self._name = name

    def read(self, queues: Sequence[str]) -> dict[str, QueueRecord]:
        """Read the records of `queues`, consistently."""
        found = {name: QueueRecord(name=name, counts=dict.fromkeys(COUNTERS, 0)) for name in queues}
        for first in range(0, len(queues), _MOST_KEYS):
            for item in self._items(queues[first : first + _MOST_KEYS]):
                record = _record(item)
                found[record.name] = record
        return found

    def set_paused(self, queue: str, paused: bool) -> None:
        """Pause a queue, or let it hand out jobs again. Doing it twice changes nothing."""
        with faults():
            self._client.update_item(
                TableName=self._name,
                Key=_key(queue),
                UpdateExpression="SET #paused = :paused",
                ExpressionAttributeNames={"#paused": "paused"},
                ExpressionAttributeValues=to_item({":paused": paused}),
            )

    def count(self, queue: str, changes: Mapping[str, int], batch: str) -> bool:
        """Add `changes` to the counters, unless that batch was counted before; tell whether it was not.

        Parameters
        ----------
        queue : str
            The queue.
        changes : mapping of str to int
            By how much each counter changes.
        batch : str
            Always the same for the same changes.
        """
        update, values = _additions(changes)
        update += " SET #batches = list_append(if_not_exists(#batches, :none), :more)"
        condition = f"{HAS_NO_BATCHES} OR {IS_NEW_BATCH}"
        values |= {":none": [], ":more": [batch], ":batch": batch}
        try:
            with faults():
                answer = self._client.update_item(
                    TableName=self._name,
                    Key=_key(queue),
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames=names(update + condition),
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_NEW",
                )
        except ConditionFailed:
            return False  # by an earlier delivery, or by this very write, whose answer was lost
        self._forget_batches(queue, _record(answer["Attributes"]).batches)
        return True

    def note_recount(
        self, seen: QueueRecord, recount: Mapping[str, Any], corrections: Mapping[str, int]
    ) -> bool:
        """Keep what a recount found, and add its corrections; tell whether nobody else did it meanwhile.

        Parameters
        ----------
        seen : QueueRecord
            The queue as the recount found it.
        recount : mapping
            What the next recount is to know.
        corrections : mapping of str to int
            By how much each counter is off.
        """
        update, values = _additions(corrections)
        update += " SET #recount = :recount"
        values |= {":recount": dict(recount), ":seen": dict(seen.recount)}
        condition = RECOUNT_IS_AS_SEEN if seen.recount else f"{HAS_NO_RECOUNT} OR {RECOUNT_IS_AS_SEEN}"
        try:
            with faults():
                self._client.update_item(
                    TableName=self._name,
                    Key=_key(seen.name),
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames=names(update + condition),
                    ExpressionAttributeValues=to_item(values),
                )
        except ConditionFailed:
            return False
        return True

    def _forget_batches(self, queue: str, batches: Sequence[str]) -> None:
        """Forget the oldest batches when there are twice as many as need be."""
        if len(batches) < 2 * REMEMBERED_BATCHES:
            return
        oldest = range(len(batches) - REMEMBERED_BATCHES)
        try:
            with faults():
                self._client.update_item(
                    TableName=self._name,
                    Key=_key(queue),
                    UpdateExpression="REMOVE " + ", ".join(f"#batches[{index}]" for index in oldest),
                    ConditionExpression=OLDEST_IS_AS_SEEN,
                    ExpressionAttributeNames={"#batches": "batches"},
                    ExpressionAttributeValues=to_item({":oldest": batches[0]}),
                )
        except (ConditionFailed, Unavailable):
            return  # somebody else did it, or the next batch will

    def _items(self, queues: Sequence[str]) -> list[Mapping[str, Any]]:
        keys = [_key(queue) for queue in queues]
        items: list[Mapping[str, Any]] = []
        for pause in (*_PAUSES_BEFORE_ASKING_AGAIN, None):
            with faults():
                answer = self._client.batch_get_item(
                    RequestItems={self._name: {"Keys": keys, "ConsistentRead": True}}
                )
            items += answer["Responses"].get(self._name, [])
            if not answer.get("UnprocessedKeys"):
                return items
            keys = [dict(key) for key in answer["UnprocessedKeys"][self._name]["Keys"]]
            if pause is not None:
                time.sleep(pause)
        raise Unavailable


def open_queues_table(settings: Settings, *, client: DynamoDBClient | None = None) -> QueuesTable:
    """Open the queues table of a deployment; without a client, `dynamodb.make_client` makes one."""
    return QueuesTable(client or make_client(), settings.queues_table)


def counter(status: JobStatus, priority: JobPriority) -> str:
    """Return the counter of a job: its status, and for one that waits also its priority."""
    return f"{status.value}_{priority.value}" if status is JobStatus.PENDING else status.value


COUNTERS = tuple(dict.fromkeys(counter(status, priority) for status in JobStatus for priority in JobPriority))
"""All counters of a queue."""


def _key(queue: str) -> dict[str, Any]:
    return {"queue": {"S": queue}}


def _record(item: Mapping[str, Any]) -> QueueRecord:
    attributes = {name: _plain(_deserialize(value)) for name, value in item.items()}
    return QueueRecord(
        name=attributes["queue"],
        paused=attributes.get("paused", False),
        counts={name: attributes.get(name, 0) for name in COUNTERS},
        batches=tuple(attributes.get("batches", ())),
        recount=attributes.get("recount", {}),
    )


def _additions(changes: Mapping[str, int]) -> tuple[str, dict[str, Any]]:
    """Word the part of an update that adds to counters, with its values."""
    added = {name: change for name, change in changes.items() if change}
    update = "ADD " + ", ".join(f"#{name} :{name}" for name in added) if added else ""
    return update, {f":{name}": change for name, change in added.items()}


def _plain(value: Any) -> Any:
    """Return `value` with whole numbers for DynamoDB's decimals."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value if isinstance(value, str | bool) or value is None else int(value)
