"""Why the worker function was started: by the table's stream, by its schedule, or by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobqueue.job import JobStatus, parse_timestamp

_CLOCKS_DIFFER = timedelta(seconds=1)
_CHANGES = ("INSERT", "MODIFY")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWake:
    """The table's stream tells that jobs became ready.

    Attributes
    ----------
    promised : frozenset of str
        Their ids. None is left where the records tell of nothing that can be started now.
    """

    promised: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWake:
    """The schedule, or another worker, starts the worker that has this number.

    Attributes
    ----------
    number : int
        From 1, which is the one that the schedule starts.
    until : datetime or None
        When it may take its last job; None lets the first one decide.
    """

    number: int = 1
    until: datetime | None = None


def read_wake(event: Mapping[str, Any], queues: Collection[str], now: datetime) -> StreamWake | FleetWake:
    """Read the event of an invocation.

    Parameters
    ----------
    event : mapping
        A batch of DynamoDB stream records, what `FleetWake` was written as by `written`, or anything else,
        which counts as the schedule's.
    queues : collection of str
        The queues that are worked.
    now : datetime
        The time.
    """
    if "Records" in event:
        return StreamWake(promised=frozenset(_ready(event["Records"], queues, now)))
    if "worker" in event:
        return FleetWake(number=int(event["worker"]), until=parse_timestamp(event["until"]))
    return FleetWake()


def _ready(records: Collection[Mapping[str, Any]], queues: Collection[str], now: datetime) -> Iterator[str]:
    """Yield the ids of the jobs that became ready: new or changed to pending, not delayed, a queue of ours.

    The event source's filter says most of that already, but cannot compare times.
    """
    latest = now + _CLOCKS_DIFFER
    for record in records:
        new = record["dynamodb"].get("NewImage", {})
        if (
            record["eventName"] in _CHANGES
            and _text(new, "status") == JobStatus.PENDING
            and _text(record["dynamodb"].get("OldImage", {}), "status") != JobStatus.PENDING
            and _text(new, "queue") in queues
            and _is_due(_text(new, "available_at"), latest)
        ):
            yield _text(new, "id")


def _is_due(available_at: str, latest: datetime) -> bool:
    try:
        return parse_timestamp(available_at) <= latest
    except ValueError:
        return False  # an item that was spoiled by hand must not keep the others from being started


def _text(image: Mapping[str, Any], name: str) -> str:
    value: str = image.get(name, {}).get("S", "")
    return value
