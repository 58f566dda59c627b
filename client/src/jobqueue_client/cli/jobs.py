"""Look at jobs, retry and cancel them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import click

from jobqueue_client.errors import ClientError, Unavailable
from jobqueue_client.jobs import Job

from . import tables
from .exits import ExitCode, exit_code, explain
from .options import STATUS, JobId, QueueName
from .session import Session, complain, end, in_session, takes_json, takes_profile
from .text import job_members, line_of_json, plain

_PAGE = 100


@click.command()
@click.argument("job_id", metavar="JOB", type=JobId())
@takes_json
@takes_profile
@in_session
def get(session: Session, job_id: str) -> None:
    """Show all that you may see of a job."""
    job = session.client.get(job_id)
    session.show(job_members(job), tables.job_details(job, session.client.clock.wall()))


@click.command("list", short_help="List jobs by status, queue and type.")
@click.option("--status", type=STATUS)
@click.option("--queue", type=QueueName())
@click.option("--type", "job_type", metavar="TYPE")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most.")
@click.option("--all", "show_all", is_flag=True, help="All that match, in place of --limit.")
@takes_json
@takes_profile
@in_session
def list_jobs(
    session: Session,
    /,
    *,
    status: str | None,
    queue: str | None,
    job_type: str | None,
    limit: int,
    show_all: bool,
) -> None:
    """List jobs: pending, running, failed, completed, cancelled.

    Pending jobs come in the order in which they are claimed, finished ones newest first.
    """
    pages = _pages(session, status, queue, job_type, None if show_all else limit)
    if session.as_json:
        for page, _ in pages:
            for job in page:
                click.echo(line_of_json(job_members(job)))
        return
    jobs, more = _gather(session, pages)
    if jobs:
        session.print(tables.job_table(jobs, session.client.clock.wall(), width=session.out.width))
    else:
        session.note("No jobs.")
    if more:
        session.note("There are more: --limit or --all shows them.")


def _pages(
    session: Session, status: str | None, queue: str | None, job_type: str | None, limit: int | None
) -> Iterator[tuple[Sequence[Job], bool]]:
    """Return the jobs page by page, and with each whether there are more after it."""
    cursor: str | None = None
    left = limit
    while True:
        page = session.client.list_page(
            status=status,
            queue=queue,
            job_type=job_type,
            limit=_PAGE if left is None else min(left, _PAGE),
            cursor=cursor,
        )
        cursor = page.next_cursor
        yield page.jobs, cursor is not None
        if left is not None:
            left -= len(page.jobs)
        if cursor is None or left == 0:
            return


def _gather(session: Session, pages: Iterator[tuple[Sequence[Job], bool]]) -> tuple[list[Job], bool]:
    """Return all jobs at once, since a table has to know how wide they are."""
    jobs: list[Job] = []
    more = False
    with session.progress("Listing jobs") as progress:
        for page, has_next in pages:
            more = has_next
            jobs.extend(page)
            progress(len(jobs))
    return jobs, more


@click.command()
@click.argument("job_ids", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@takes_json
@takes_profile
@in_session
def retry(session: Session, job_ids: Sequence[str]) -> None:
    """Put failed or cancelled jobs back into their queue."""
    _each(session, job_ids, session.client.retry, lambda job: f"{job.id} is {job.status}.")


@click.command(short_help="Cancel jobs, running ones too.")
@click.argument("job_ids", metavar="JOB...", type=JobId(), nargs=-1, required=True)
@takes_json
@takes_profile
@in_session
def cancel(session: Session, job_ids: Sequence[str]) -> None:
    """Cancel pending jobs, and ask the workers of running ones to stop."""

    def told(job: Job) -> str:
        if job.status == "running":
            return f"{job.id} is running; its worker is asked to stop."
        return f"{job.id} is {job.status}."

    _each(session, job_ids, session.client.cancel, told)


def _each(
    session: Session, job_ids: Sequence[str], change: Callable[[str], Job], told: Callable[[Job], str]
) -> None:
    code = ExitCode.DONE
    for job_id in job_ids:
        try:
            job = change(job_id)
        except Unavailable:
            # it would not be there for the next one either
            raise
        except ClientError as error:
            complain(f"{job_id}: {explain(error)}")
            code = code or exit_code(error)
        else:
            session.show(job_members(job), plain(told(job)))
    if code:
        end(code)
