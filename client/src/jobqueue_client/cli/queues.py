"""Look at queues, pause and resume them, retry what failed in one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from jobqueue_client.errors import ClientError, QueueNotFound, Unavailable
from jobqueue_client.queues import Queue

from . import tables
from .bulk import STEP, BulkRetry
from .exits import ExitCode, exit_code, explain
from .options import Moment, QueueName, Word
from .session import Session, complain, end, in_session, takes_json, takes_profile
from .text import line_of_json, plain, queue_members


@click.command(short_help="Show the queues and what is in them.")
@takes_json
@takes_profile
@in_session
def queues(session: Session) -> None:
    """Show the queues: what waits by priority, what runs, what failed, and how old the oldest is."""
    found = session.client.queues()
    if session.as_json:
        for queue in found:
            click.echo(line_of_json(queue_members(queue)))
    else:
        session.print(tables.queue_table(found))


@click.command(short_help="Let queues hand out no jobs.")
@click.argument("names", metavar="QUEUE...", type=QueueName(), nargs=-1, required=True)
@takes_json
@takes_profile
@in_session
def pause(session: Session, names: Sequence[str]) -> None:
    """Let queues hand out no jobs, within ten seconds everywhere.

    They go on taking jobs, and jobs that run go on running.
    """
    _each(session, names, session.client.pause)


@click.command()
@click.argument("names", metavar="QUEUE...", type=QueueName(), nargs=-1, required=True)
@takes_json
@takes_profile
@in_session
def resume(session: Session, names: Sequence[str]) -> None:
    """Let paused queues hand out jobs again."""
    _each(session, names, session.client.resume)


def _each(session: Session, names: Sequence[str], change: Callable[[str], Queue]) -> None:
    code = ExitCode.DONE
    for name in names:
        try:
            queue = change(name)
        except Unavailable:
            # it would not be there for the next one either
            raise
        except ClientError as error:
            complain(f"{name}: {explain(error)}")
            code = code or exit_code(error)
        else:
            state = "paused" if queue.paused else "open"
            session.show(queue_members(queue), plain(f"Queue {queue.name} is {state}."))
    if code:
        end(code)


@click.command("retry-all")
@click.argument("name", metavar="QUEUE", type=QueueName())
@click.option("--type", "job_type", metavar="TYPE", help="Only jobs of this type.")
@click.option("--status", type=Word(("failed", "cancelled")), default="failed", show_default=True)
@click.option("--finished-before", type=Moment(), help="Only jobs that failed before this time.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after so many jobs.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@takes_json
@takes_profile
@in_session
def retry_all(
    session: Session, /, *, name: str, status: str, limit: int | None, yes: bool, **wanted: Any
) -> None:
    """Put all failed jobs of a queue back into it, the oldest first.

    Stops after as many jobs as there are at its start, so that jobs that fail again at once do not keep it
    going.
    """
    total = _how_many(session, name, status)
    _make_sure(session, f"Retry the {status} jobs of queue {name} ({total:,} of all kinds now)?", yes)
    bulk = BulkRetry(session.client, name, status=status, most=limit or max(total, STEP), **wanted)
    is_known = not any(wanted.values())
    bar_total = min(total, limit or total) if is_known else None
    try:
        with session.progress("Retrying", bar_total) as progress:
            for retried in bulk.run():
                progress(retried)
    except (KeyboardInterrupt, ClientError):
        session.note(f"Stopped after {bulk.counted()}.")
        raise
    members = {"queue": name, "retried": bulk.retried, "skipped": bulk.skipped, "more": bulk.more}
    session.show(members, f"Retried {bulk.counted()} of queue {name}.")
    if bulk.is_stuck:
        complain("There are more, and the API does not get to them now. Run it again.")
        end(ExitCode.UNAVAILABLE)
    if bulk.more:
        session.note("There are more.")


def _how_many(session: Session, name: str, status: str) -> int:
    for queue in session.client.queues():
        if queue.name == name:
            return getattr(queue.counts, status, 0)
    raise QueueNotFound


def _make_sure(session: Session, question: str, yes: bool) -> None:
    if yes:
        return
    if not session.can_ask():
        raise click.UsageError("There is nobody to ask whether you are sure: add --yes.")
    # click's own question leaves a blank on standard output
    click.echo(f"{question} [y/N] ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        raise EOFError
    if answer.strip().lower() not in {"y", "yes"}:
        session.note("Nothing was retried.")
        end(ExitCode.REFUSED)
