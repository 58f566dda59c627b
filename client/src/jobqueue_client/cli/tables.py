"""What people see: tables of jobs and queues, and all that is known of one job.

Nothing that came from the API goes to the terminal but through `plain`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from jobqueue_client.jobs import Job
from jobqueue_client.queues import Queue

from .text import duration, moment, plain, pretty

_STYLES = {"running": "cyan", "completed": "green", "failed": "bold red", "cancelled": "dim"}
_WIDE = 96
_PRIORITIES = ("critical", "high", "medium", "low")
_OPTIONAL: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("idempotency_key", "created_by", "worker_id"), plain),
    **dict.fromkeys(("created_at", "available_at", "claimed_at", "lease_expires_at", "finished_at"), moment),
    **dict.fromkeys(("payload", "progress", "result"), pretty),
}
"""What is not there for every job or every caller, and how it is written."""

_BRIEF = {"id", "type", "queue", "status", "retries", "worker id", "progress", "error"}


def cell(value: object, style: str = "") -> Text:
    """Return what a cell shows, with everything in it that is not text written out."""
    return Text(plain(value), style=style)


def count(number: int, style: str = "") -> Text:
    """Return a number for a column; nothing is shown quietly."""
    return Text(f"{number:,}", style=style if number else "dim")


def status(job: Job) -> Text:
    """Return a job's status in its colour."""
    word = f"{job.status}, cancelling" if job.cancel_requested and job.status == "running" else job.status
    return cell(word, _STYLES.get(job.status, ""))


def when(job: Job, now: float) -> str:
    """Return how long ago, or in how long, the thing happens that a job's status is about."""

    def since(time: datetime) -> float:
        return now - time.timestamp()

    if job.finished_at is not None and job.is_finished:
        return f"{duration(since(job.finished_at))} ago"
    if job.claimed_at is not None and job.status == "running":
        return f"for {duration(since(job.claimed_at))}"
    due = since(job.available_at)
    return f"in {duration(-due)}" if due < 0 else f"due {duration(due)}"


def table(*columns: str, right: Collection[str] = (), folded: Collection[str] = (), gap: int = 2) -> Table:
    """Return an empty table. Only what is in a column of `folded` may go on in the next line."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for name in columns:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        made.add_column(name, no_wrap=name not in folded, overflow="fold", justify=justify)
    return made


def job_table(jobs: Iterable[Job], now: float, *, width: int) -> Table:
    """Return a table of jobs. `now` is in seconds since the epoch, `width` in columns."""
    # narrow enough for a terminal of 80 columns, as long as types and queues have short names
    made = table(
        *("ID", "TYPE", "QUEUE", "STATUS", "PRIO", "RETRY", "WHEN"),
        right=("RETRY",),
        folded=("TYPE", "QUEUE"),
        gap=2 if width >= _WIDE else 1,
    )
    for job in jobs:
        made.add_row(
            cell(job.id),
            cell(job.type),
            cell(job.queue),
            status(job),
            cell(job.priority, "bold" if job.priority == "critical" else ""),
            cell(f"{job.retry_count}/{job.max_retries}"),
            cell(when(job, now)),
        )
    return made


def queue_table(queues: Iterable[Queue]) -> Table:
    """Return a table of queues, with what waits by priority and what became of the rest."""
    shown = tuple(queues)
    known = {priority for queue in shown if queue.counts for priority in queue.counts.pending}
    levels = [*sorted(known - {*_PRIORITIES}), *_PRIORITIES]
    ends = ("RUNNING", "FAILED", "COMPLETED", "CANCELLED")
    numbers = (*(plain(level).upper() for level in levels), *ends)
    made = table("QUEUE", "STATE", *numbers, "OLDEST", right=(*numbers, "OLDEST"))
    for queue in shown:
        row = [cell(queue.name), cell("paused", "yellow") if queue.paused else cell("open", "green")]
        if queue.counts is None:
            made.add_row(*row)
            continue
        row += [count(queue.counts.pending.get(level, 0)) for level in levels]
        row += [
            count(queue.counts.running, "cyan"),
            count(queue.counts.failed, "bold red"),
            count(queue.counts.completed),
            count(queue.counts.cancelled),
        ]
        age = queue.oldest_age_seconds
        made.add_row(*row, cell("" if age is None else duration(age)))
    return made


def job_details(job: Job, now: float, *, brief: bool = False) -> Table:
    """Return all that is known of a job, or only what changes while it runs."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, shown in _details(job, now):
        if not brief or name in _BRIEF:
            made.add_row(cell(name), shown)
    return made


def _details(job: Job, now: float) -> Iterator[tuple[str, Text]]:
    for name in ("id", "type", "queue"):
        yield name, cell(getattr(job, name))
    yield "status", Text.assemble(status(job), f"  {when(job, now)}")
    yield "priority", cell(job.priority)
    yield "retries", cell(f"{job.retry_count} of {job.max_retries}")
    for name, show in _OPTIONAL.items():
        if getattr(job, name) is not None:
            yield name.removesuffix("_at").replace("_", " "), Text(show(getattr(job, name)))
    if job.error is not None:
        yield "error", cell(job.error, "red")
    for failure in job.errors:
        by = f"  {failure.worker_id}" if failure.worker_id else ""
        yield "failed", cell(f"{moment(failure.failed_at)}{by}  {failure.error}")
