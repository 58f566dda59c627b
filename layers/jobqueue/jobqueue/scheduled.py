"""Turns the event of a schedule into an enqueue, such that a tick which fires twice makes one job.

An event is ``{"rule": NAME_OR_ARN, "time": TIME, "job": {"type": ..., ...}}``, as an EventBridge rule with an
InputTransformer or an EventBridge Scheduler schedule makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobqueue.errors import InvalidRequest, JobQueueError
from jobqueue.job import JobPriority, format_timestamp
from jobqueue.newjob import NewJob
from jobqueue.principal import ALL_QUEUES, Principal, Role
from jobqueue.queue import Enqueued, JobQueue

SCHEDULER = Principal(
    id="internal:enqueue_scheduled",
    role=Role.PRODUCER,
    queues=frozenset({ALL_QUEUES}),
    max_priority=JobPriority.CRITICAL,
)

_ARN = re.compile(r"arn:[^:]*:(?:events|scheduler):[^:]*:[^:]*:(?:rule|schedule)/(.+)")
_LONGEST_NAME = 200
_KINDS: Mapping[str, type] = {
    "type": str,
    "payload": dict,
    "queue": str,
    "priority": str,
    "max_retries": int,
    "delay_seconds": int,
}


class InvalidSchedule(JobQueueError):
    """The event of the schedule does not say which job to enqueue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One firing of a schedule.

    Attributes
    ----------
    rule : str
        The name of the rule or schedule.
    time : datetime
        For when it was scheduled, in UTC.
    new : NewJob
        What to enqueue, with a key that is the same however often the tick fires.
    """

    rule: str
    time: datetime
    new: NewJob


def read_tick(event: Mapping[str, Any]) -> Tick:
    """Read the event of a schedule.

    Raises
    ------
    InvalidSchedule
        If it does not name its rule, its time or its job, or if one of them is still the placeholder that
        was to be replaced.
    """
    rule = _rule(event)
    time = _time(event)
    job = event.get("job")
    if not isinstance(job, dict):
        raise InvalidSchedule("The event has no `job`, an object.")
    if wrong := list(_wrong(job)):
        raise InvalidSchedule("; ".join(wrong))
    fields = {**job, "priority": JobPriority(job.get("priority", JobPriority.LOW).lower())}
    return Tick(
        rule=rule,
        time=time,
        new=NewJob(**fields, idempotency_key=f"{rule}/{format_timestamp(time)}"),
    )


def enqueue_tick(queue: JobQueue, tick: Tick) -> Enqueued:
    """Enqueue the job of a tick, or find the one that the same tick made before.

    Raises
    ------
    InvalidSchedule
        If the deployment refuses the job: its type, its payload, its queue.
    IdempotencyKeyReused
        If the schedule was changed between two firings of one tick.
    Unavailable
        If DynamoDB was busy; Lambda calls again.
    """
    try:
        return queue.enqueue(SCHEDULER, tick.new)
    except InvalidRequest as refused:
        raise InvalidSchedule("; ".join(error.message for error in refused.errors)) from None


def _rule(event: Mapping[str, Any]) -> str:
    told = _replaced(event, "rule")
    found = _ARN.fullmatch(told)
    name = found[1] if found else told
    if len(name) > _LONGEST_NAME:
        raise InvalidSchedule(f"`rule` is longer than {_LONGEST_NAME} characters.")
    return name


def _time(event: Mapping[str, Any]) -> datetime:
    told = _replaced(event, "time")
    try:
        moment = datetime.fromisoformat(told)
        if moment.tzinfo is None:
            raise InvalidSchedule("`time` has no offset from UTC.")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter of a time at the calendar's edge
        raise InvalidSchedule("`time` is not a time.") from None


def _replaced(event: Mapping[str, Any], name: str) -> str:
    """Return a text of the event that EventBridge was to fill in."""
    value = event.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidSchedule(f"The event has no `{name}`.")
    if "<" in value:
        # with a time that is always the same, every tick but the first would be taken for a repeated one
        raise InvalidSchedule(f"`{name}` is still the placeholder {value[:100]}, which nobody replaced.")
    return value


def _wrong(job: Mapping[str, Any]) -> Iterator[str]:
    if "type" not in job:
        yield "job.type: is required"
    for name, value in job.items():
        if name not in _KINDS:
            yield f"job.{name[:100]}: is not a known field"
        elif type(value) is not _KINDS[name]:  # `isinstance` would take true for a number
            yield f"job.{name}: must be of type {_KINDS[name].__name__}"
        elif name == "priority" and str(value).lower() not in set(JobPriority):
            yield "job.priority: is not a priority"
