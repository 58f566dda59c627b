"""How jobs are listed: lane after lane in a fixed order, from a place where the last page ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from jobqueue.errors import InvalidCursor
from jobqueue.item import LaneEntry
from jobqueue.job import JobPriority, JobStatus, JobSummary, is_job_id, parse_timestamp
from jobqueue.lanes import Lanes, up_to
from jobqueue.table import JobsTable

STATUS_ORDER = (
    JobStatus.PENDING,
    JobStatus.RUNNING,
    JobStatus.FAILED,
    JobStatus.COMPLETED,
    JobStatus.CANCELLED,
)

MOST_LOOKED_AT = 1000
"""Entries that one page may look at. A filter that few jobs pass gives a short page and a cursor."""

_LANE_COST = 10
_FILTERED_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs to list; None is no restriction."""

    status: JobStatus | None = None
    queue: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last job of a page: where the next page goes on. Without order and id: a lane's beginning."""

    lane: str
    lane_order: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Some jobs, and where the list goes on; None at its end."""

    jobs: tuple[JobSummary, ...]
    next: Position | None


@dataclass(frozen=True, slots=True)
class _Lane:
    name: str
    status: JobStatus


@dataclass(frozen=True, slots=True)
class _Step:
    """One entry, or the beginning of a lane, with what it cost to come there."""

    position: Position
    summary: JobSummary | None
    cost: int


def list_jobs(
    table: JobsTable,
    queues: tuple[str, ...],
    wanted: JobFilter,
    *,
    limit: int,
    after: Position | None,
    now: datetime,
) -> JobPage:
    """Return a page of jobs of `queues`.

    Waiting jobs come in the order of claiming, running ones in the order of their leases, finished ones
    newest first.

    Raises
    ------
    InvalidCursor
        If `after` is not a place in the lanes that are listed.
    """
    lanes = list(_lanes(table.lanes, queues, wanted.status))
    if after is not None:
        lanes = _from(lanes, after)
    size = _FILTERED_PAGE if wanted.type else limit
    found: list[JobSummary] = []
    cost = 0
    for step in _walk(table, lanes, after, size, now):
        cost += step.cost
        if step.summary is not None and wanted.type in {None, step.summary.type}:
            found.append(step.summary)
        if len(found) == limit or cost >= MOST_LOOKED_AT:
            return JobPage(jobs=tuple(found), next=step.position)
    return JobPage(jobs=tuple(found), next=None)


def _lanes(lanes: Lanes, queues: tuple[str, ...], status: JobStatus | None) -> Iterator[_Lane]:
    for one in STATUS_ORDER if status is None else (status,):
        for name in _names(lanes, queues, one):
            yield _Lane(name, one)


def _names(lanes: Lanes, queues: tuple[str, ...], status: JobStatus) -> Iterator[str]:
    if status is JobStatus.PENDING:
        for priority in JobPriority.highest_first():
            for queue in queues:
                yield from lanes.pending(queue, priority)
    else:
        for queue in queues:
            yield from lanes.running(queue) if status is JobStatus.RUNNING else lanes.finished(queue, status)


def _from(lanes: list[_Lane], after: Position) -> list[_Lane]:
    """Return the lanes from the one of `after` on."""
    for number, lane in enumerate(lanes):
        if lane.name == after.lane and _is_place(after):
            return lanes[number:]
    raise InvalidCursor


def _is_place(position: Position) -> bool:
    if not position.lane_order and not position.id:
        return True
    time, _, job_id = position.lane_order.partition("#")
    try:
        parse_timestamp(time)
    except ValueError:
        return False
    return job_id == position.id and is_job_id(job_id)


def _walk(
    table: JobsTable, lanes: list[_Lane], after: Position | None, size: int, now: datetime
) -> Iterator[_Step]:
    start = (after.lane_order, after.id) if after is not None and after.id else None
    for lane in lanes:
        if start is None:
            yield _Step(Position(lane=lane.name), None, _LANE_COST)
        for entry in _entries(table, lane, start, size, now):
            place = Position(lane=lane.name, lane_order=entry.lane_order, id=entry.summary.id)
            yield _Step(place, entry.summary, 1)
        start = None


def _entries(
    table: JobsTable, lane: _Lane, start: tuple[str, str] | None, size: int, now: datetime
) -> Iterator[LaneEntry]:
    # TTL deletes late: what is past its retention counts as absent, and DynamoDB refuses to start there
    since = up_to(table.last_expired(now)) if lane.status.is_finished else None
    while start is None or since is None or start[0] > since:
        page = table.index.read(
            lane.name, limit=size, start=start, since=since, newest_first=lane.status.is_finished
        )
        yield from page.entries
        if page.next is None:
            return
        start = page.next
