"""Make jobs: one, or one for each line of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from jobqueue_client.errors import ClientError, Unavailable
from jobqueue_client.jobs import Enqueued, Job, JsonObject, NewJob

from . import tables
from .exits import ExitCode, exit_code, explain
from .options import PRIORITY, Duration, Moment, QueueName
from .payload import read_payload, read_payloads
from .session import Session, complain, end, in_session, takes_json, takes_profile
from .text import job_members, line_of_json, plain

_CALL = 100


@click.command()
@click.argument("job_type", metavar="TYPE")
@click.argument("payload", metavar="[PAYLOAD]", required=False)
@click.option("--queue", type=QueueName(), help="Default: the type's.")
@click.option("--priority", type=PRIORITY, help="Default: low.")
@click.option("--max-retries", type=click.IntRange(min=0), help="Default: the type's.")
@click.option("--delay", type=Duration(), help="Not before so long from now: 90, 90s, 15m, 2h, 1d.")
@click.option("--run-at", type=Moment(), help="Not before this time: 2026-11-30T08:00:00+01:00.")
@click.option(
    "--idempotency-key",
    metavar="KEY",
    help="The same key makes the same job only once. With --lines, KEY:LINE.",
)
@click.option("--lines", is_flag=True, help="Make a job of each line of PAYLOAD.")
@click.option("--wait", is_flag=True, help="Wait until the job has ended, and show it.")
@click.option("--timeout", type=Duration(), help="With --wait: how long at most.")
@takes_json
@takes_profile
@in_session
def enqueue(
    session: Session,
    /,
    *,
    job_type: str,
    payload: str | None,
    lines: bool,
    wait: bool,
    timeout: int | None,
    **members: Any,
) -> None:
    """Make a job.

    PAYLOAD is a JSON object, @FILE for the one in a file, or - for standard input. Other users of this
    machine can see what is on a command line; they cannot see what is in a file of yours.
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait.")
    if members["delay"] is not None and members["run_at"] is not None:
        raise click.UsageError("--delay and --run-at cannot go together.")
    if lines and wait:
        raise click.UsageError("--lines and --wait cannot go together.")
    members["delay_seconds"] = members.pop("delay")
    if lines:
        _enqueue_lines(session, job_type, payload or "-", members)
        return
    made = _enqueue(session, job_type, payload, members)
    if wait:
        _wait(session, made.job, timeout)
        return
    job = made.job
    told = f"{job.id} is {job.status}" + ("." if made.created else ", made by an earlier call with this key.")
    session.show({"created": made.created, **job_members(job)}, plain(told))


def _enqueue(session: Session, job_type: str, payload: str | None, members: dict[str, Any]) -> Enqueued:
    content = read_payload(payload)
    try:
        return session.client.enqueue(job_type, content, **members)
    except Unavailable as error:
        if error.may_have_landed and members["idempotency_key"] is None:
            session.note("The job may have been made all the same.")
        raise


def _wait(session: Session, job: Job, timeout: int | None) -> None:
    try:
        with session.progress(plain(f"Waiting for {job.id}")):
            ended = session.client.wait(job.id, timeout)
    except (KeyboardInterrupt, ClientError):
        # the one thing that the caller cannot find out any more
        click.echo(plain(f"{job.id} goes on without being waited for."), err=True)
        raise
    session.show(job_members(ended), tables.job_details(ended, session.client.clock.wall()))
    if ended.status != "completed":
        end(ExitCode.NOT_COMPLETED)


@dataclass
class _Tally:
    created: int = 0
    known: int = 0
    refused: int = 0
    code: ExitCode = ExitCode.DONE

    def __str__(self) -> str:
        known = f", {self.known:,} known from earlier calls" if self.known else ""
        refused = f", {self.refused:,} refused" if self.refused else ""
        return f"{self.created:,} {'job' if self.created == 1 else 'jobs'} made{known}{refused}."


def _enqueue_lines(session: Session, job_type: str, given: str, members: dict[str, Any]) -> None:
    jobs = [
        (number, _new_job(job_type, payload, number, members)) for number, payload in read_payloads(given)
    ]
    tally = _Tally()
    try:
        with session.progress("Enqueueing", len(jobs)) as progress:
            for start in range(0, len(jobs), _CALL):
                chunk = jobs[start : start + _CALL]
                results = session.client.enqueue_many(new for _, new in chunk)
                for (number, _), result in zip(chunk, results, strict=True):
                    _count(session, tally, number, result, has_key=members["idempotency_key"] is not None)
                progress(start + len(chunk))
    except (KeyboardInterrupt, ClientError):
        session.note(f"Stopped early: {tally}")
        raise
    session.note(str(tally))
    if tally.code:
        end(tally.code)


def _new_job(job_type: str, payload: JsonObject, number: int, members: dict[str, Any]) -> NewJob:
    given = {name: value for name, value in members.items() if value is not None}
    if "idempotency_key" in given:
        # the line keeps its key when the command is run again with the same file
        given["idempotency_key"] = f"{given['idempotency_key']}:{number}"
    return NewJob(type=job_type, payload=payload, **given)


def _count(
    session: Session, tally: _Tally, number: int, result: Enqueued | ClientError, has_key: bool
) -> None:
    if isinstance(result, ClientError):
        tally.refused += 1
        complain(f"line {number}: {explain(result)}")
        tally.code = tally.code or exit_code(result)
        answer: JsonObject = {"line": number, "error": str(result), "problem": result.problem}
    else:
        # nobody else has a key that was minted here, so a job that it finds is this command's own
        created = result.created or not has_key
        tally.created += created
        tally.known += not created
        answer = {"line": number, "created": created, **job_members(result.job)}
    if session.as_json:
        click.echo(line_of_json(answer))
