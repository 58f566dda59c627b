"""Tells an event bus what became of jobs, so that other systems can react.

=============  ==============================================================================
event          when
=============  ==============================================================================
JobCompleted   a worker completed it
JobFailed      it failed for good: it is a dead letter
JobCancelled   it was cancelled
JobRetried     it waits again; `cause` tells why: ``attempt-failed``, ``lease-expired`` or ``asked``. Where
               another worker took it over from one that went silent, it is running already
=============  ==============================================================================

An event comes at least once, and not always in order; `change_id` tells repeated ones. It carries what a list
of jobs shows, and no payload, result or error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from jobqueue.changes import Change, Happened
from jobqueue.job import JobSummary, format_timestamp

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE = "jobqueue"

MOST_ENTRIES = 10
"""That PutEvents takes. An entry is well below a kilobyte."""

SIDE_BY_SIDE = 5
TRIES = 3
"""For entries that the bus refuses while it takes others; the SDK only repeats whole calls."""

_EVENTS = {
    Happened.COMPLETED: "JobCompleted",
    Happened.FAILED: "JobFailed",
    Happened.CANCELLED: "JobCancelled",
    Happened.RETRIED: "JobRetried",
    Happened.TAKEN_OVER: "JobRetried",
    Happened.REVIVED: "JobRetried",
}
_CONFIG = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
)


class EventBus:
    """Where events go.

    Parameters
    ----------
    client : EventBridge client
        Its timeouts and retries are the caller's choice.
    name : str
        The bus.
    """

    def __init__(self, client: EventBridgeClient, name: str) -> None:
        self._client = client
        self._name = name

    def announce(self, changes: Sequence[Change]) -> int:
        """Tell the bus what happened; return how many of the changes are told, from the first one on."""
        numbered = [(number, self._entry(change)) for number, change in enumerate(changes)]
        entries = [(number, entry) for number, entry in numbered if entry is not None]
        groups = [entries[first : first + MOST_ENTRIES] for first in range(0, len(entries), MOST_ENTRIES)]
        with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            refused = [number for numbers in pool.map(self._put, groups) for number in numbers]
        return min(refused, default=len(changes))

    def _put(self, entries: Sequence[tuple[int, PutEventsRequestEntryTypeDef]]) -> list[int]:
        """Send entries, those that are refused again; return the numbers of what the bus would not take."""
        left = list(entries)
        for _ in range(TRIES):
            try:
                answers = self._client.put_events(Entries=[entry for _, entry in left])["Entries"]
            except (BotoCoreError, ClientError):
                break
            left = [entry for entry, answer in zip(left, answers, strict=True) if "EventId" not in answer]
            if not left:
                break
        return [number for number, _ in left]

    def _entry(self, change: Change) -> PutEventsRequestEntryTypeDef | None:
        name = None if change.happened is None else _EVENTS.get(change.happened)
        if name is None or change.after is None or change.changed_at is None:
            return None
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": name,
            "Time": change.changed_at,
            "Detail": json.dumps(_detail(change, change.after), separators=(",", ":")),
        }


def open_event_bus(name: str) -> EventBus:
    """Open the bus of a deployment."""
    client: EventBridgeClient = boto3.client("events", config=_CONFIG)
    return EventBus(client, name)


def _detail(change: Change, job: JobSummary) -> dict[str, Any]:
    return {
        **_shown(job),
        "trace_id": change.trace_id,
        "cause": _cause(change),
        "change_id": change.id,
    }


def _cause(change: Change) -> str | None:
    if change.happened is Happened.REVIVED:
        return "asked"
    if change.lease_ran_out:
        return "lease-expired"
    return "attempt-failed" if change.happened is Happened.RETRIED else None


def _shown(job: JobSummary) -> dict[str, Any]:
    times = {
        "available_at": job.available_at,
        "created_at": job.created_at,
        "claimed_at": job.claimed_at,
        "finished_at": job.finished_at,
    }
    return {
        "id": job.id,
        "type": job.type,
        "queue": job.queue,
        "priority": job.priority.value,
        "status": job.status.value,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "created_by": job.created_by,
        "worker_id": job.worker_id,
        **{name: None if time is None else format_timestamp(time) for name, time in times.items()},
    }
