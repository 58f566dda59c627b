"""The group of commands, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from jobqueue_client.errors import ClientError
from jobqueue_client.version import __version__

from . import jobs, making, queues, watch
from .exits import EXPLAINED, ExitCode, exit_code, explain
from .session import Session, complain, end, takes_profile
from .settings import InvalidSettings


class CommandLine(click.Group):
    """A group whose errors are one line each."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and end the process."""
        for stream in (sys.stdout, sys.stderr):
            # a terminal or a file that cannot write all of Unicode
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **{"prog_name": "jobqueue", **extra, "standalone_mode": False})
        except click.UsageError as error:
            complain(_usage(error))
            code = ExitCode.USAGE
        except InvalidSettings as error:
            complain(f"{error}.")
            code = ExitCode.USAGE
        except ClientError as error:
            complain(explain(error))
            code = exit_code(error)
        except click.Abort:
            code = ExitCode.INTERRUPTED
        sys.exit(code or ExitCode.DONE)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what cannot be sent, whichever option it is for."""
        for arg in args:
            try:
                arg.encode()
            except UnicodeEncodeError:
                raise click.UsageError(f"{arg!r} is not UTF-8.", ctx) from None
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that `ctx` names."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # as after `jobqueue list | head`; nothing more can be written, at the interpreter's end neither
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            end(ExitCode.READER_GONE)
        return result


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "jobqueue"
    return f"{error.format_message()} See '{command} --help'."


_HELP = """Enqueue jobs, look at them and steer them.

The API and the key are those of JOBQUEUE_URL and JOBQUEUE_KEY, or of a profile in
~/.config/jobqueue/config.toml, which only you may be able to read:

\b
  [default]
  url = "https://abc123.execute-api.eu-central-1.amazonaws.com"
  key = "jq_..."
"""


@click.group(
    cls=CommandLine,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=_HELP,
    epilog=EXPLAINED,
)
@takes_profile
@click.version_option(__version__, prog_name="jobqueue")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Make the session that the commands share, or show what commands there are."""
    ctx.ensure_object(Session)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        end(ExitCode.USAGE)


for command in (
    making.enqueue,
    jobs.get,
    jobs.list_jobs,
    watch.watch,
    jobs.retry,
    jobs.cancel,
    queues.queues,
    queues.pause,
    queues.resume,
    queues.retry_all,
):
    cli.add_command(command)
