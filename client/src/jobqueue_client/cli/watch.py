"""A view that stays and follows what happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click
from rich.console import Group, RenderableType
from rich.text import Text

from jobqueue_client.client import Client
from jobqueue_client.errors import QueueNotFound
from jobqueue_client.jobs import Job
from jobqueue_client.queues import Queue
from jobqueue_client.retry import NO_RETRY

from . import tables
from .exits import ExitCode
from .following import Line, looks, view
from .options import Duration, JobId, QueueName
from .session import Session, end, in_session, takes_json, takes_profile
from .text import compact, job_members, moment_of, plain, queue_members

_ROWS = 10


@click.command(short_help="Follow the queues, or one job.")
@click.argument("job_id", metavar="[JOB]", type=JobId(), required=False)
@click.option("--queue", type=QueueName(), help="Only this queue.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.2, max=3_600),
    default=2.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--timeout", type=Duration(), help="With JOB: how long at most.")
@takes_json
@takes_profile
@in_session
def watch(
    session: Session, /, *, job_id: str | None, queue: str | None, interval: float, timeout: int | None
) -> None:
    """Follow the queues until Ctrl-C, or one JOB until it has ended.

    On a terminal this is a view that stays; elsewhere, and with --json, a line is written for each change.
    """
    if job_id is None and timeout is not None:
        raise click.UsageError("--timeout goes with JOB.")
    if job_id is not None and queue is not None:
        raise click.UsageError("--queue and JOB cannot go together.")
    # a look that fails is not repeated but followed by the next one
    client = session.client.with_options(retry=NO_RETRY)
    if job_id is None:
        _watch_queues(session, client, queue, interval)
    else:
        _watch_job(session, client, job_id, interval, timeout)


@dataclass(frozen=True, slots=True)
class _Board:
    """What there is to see of the queues. Only a screen has room for the jobs."""

    queues: tuple[Queue, ...]
    running: tuple[Job, ...] = ()
    failed: tuple[Job, ...] = ()


def _watch_queues(session: Session, client: Client, only: str | None, interval: float) -> None:
    def look() -> _Board:
        queues = tuple(queue for queue in client.queues() if only in {None, queue.name})
        if only is not None and not queues:
            raise QueueNotFound
        if not session.is_live:
            return _Board(queues)
        running = client.list_page(status="running", queue=only, limit=_ROWS)
        failed = client.list_page(status="failed", queue=only, limit=_ROWS)
        return _Board(queues, running.jobs, failed.jobs)

    def draw(board: _Board, trouble: str) -> RenderableType:
        now = client.clock.wall()
        return Group(
            *_board(board, f"{session.profile.url}   {moment_of(now)}", trouble, now, session.out.width)
        )

    def lines(board: _Board) -> Iterator[Line]:
        for queue in board.queues:
            told = f"{moment_of(client.clock.wall())}  {_queue_line(queue)}"
            # the age of the oldest is another one at each look
            yield Line(queue.name, (queue.paused, queue.counts), queue_members(queue), told)

    with view(session, draw, lines, screen=True) as show:
        for board, trouble in looks(client, look, interval):
            show(board, trouble)


def _watch_job(session: Session, client: Client, job_id: str, interval: float, timeout: int | None) -> None:
    def draw(job: Job, trouble: str) -> RenderableType:
        # payloads are longer than screens; the end shows all
        details = tables.job_details(job, client.clock.wall(), brief=not job.is_finished)
        return Group(details, Text(plain(trouble), style="bold red"))

    def lines(job: Job) -> Iterator[Line]:
        told = f"{moment_of(client.clock.wall())}  {_job_line(job)}"
        state = (job.status, job.retry_count, job.cancel_requested, job.progress)
        yield Line(job.id, state, job_members(job), told)

    with view(session, draw, lines, screen=False) as show:
        for job, trouble in looks(client, lambda: client.get(job_id), interval, timeout):
            show(job, trouble)
            if job.is_finished:
                break
    if job.status != "completed":
        end(ExitCode.NOT_COMPLETED)


def _board(board: _Board, title: str, trouble: str, now: float, width: int) -> Iterator[RenderableType]:
    yield Text(plain(title), style="bold")
    yield Text(plain(trouble), style="bold red")
    yield tables.queue_table(board.queues)
    for name, jobs in (("Running", board.running), ("Failed last", board.failed)):
        if jobs:
            yield Text(f"\n{name}", style="bold")
            yield tables.job_table(jobs, now, width=width)


def _queue_line(queue: Queue) -> str:
    words = [queue.name, "paused" if queue.paused else "open"]
    if queue.counts is not None:
        waiting = ", ".join(f"{count} {level}" for level, count in queue.counts.pending.items() if count)
        words += [
            f"pending {sum(queue.counts.pending.values())}" + (f" ({waiting})" if waiting else ""),
            f"running {queue.counts.running}",
            f"failed {queue.counts.failed}",
            f"completed {queue.counts.completed}",
            f"cancelled {queue.counts.cancelled}",
        ]
    return "  ".join(words)


def _job_line(job: Job) -> str:
    words = [job.id, job.status, f"retries {job.retry_count} of {job.max_retries}"]
    if job.cancel_requested and not job.is_finished:
        words.append("asked to stop")
    if job.progress is not None:
        words.append(f"progress {compact(job.progress)}")
    return "  ".join(words)
