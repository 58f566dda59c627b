"""What every command has: the API, two streams to write to, and the options that all take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jobqueue_client.client import Client

from .exits import ExitCode
from .settings import InvalidSettings, Profile, find_profile
from .text import line_of_json, plain

Command = TypeVar("Command", bound=Callable[..., Any])

_UNBOUNDED = 10_000
_LONGEST_ERROR = 2_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    @property
    def is_live(self) -> bool:
        """Whether what was written can be written over. FORCE_COLOR makes a pipe coloured, not alive."""
        return self.file.isatty() and self.is_terminal and not self.is_dumb_terminal


def _console(*, stderr: bool = False) -> _Console:
    # a job's text is not markup, and whoever reads a pipe wants whole lines
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _UNBOUNDED
    return _Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def connect(profile: Profile) -> Client:
    """Return a client for `profile`.

    Raises
    ------
    InvalidSettings
        The URL or the key cannot be one.
    """
    try:
        return Client(profile.url, profile.key)
    except ValueError as error:
        raise InvalidSettings(f"{profile.source}: {error}") from None


def _stdin_is_terminal() -> bool:
    return sys.stdin.isatty()


@dataclass
class Session:
    """One run of the command line. Tests make their own."""

    connect: Callable[[Profile], Client] = connect
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    can_ask: Callable[[], bool] = _stdin_is_terminal
    profile_name: str | None = None
    as_json: bool = False

    @cached_property
    def profile(self) -> Profile:
        """The API and the key."""
        return find_profile(self.profile_name, self.environ)

    @cached_property
    def client(self) -> Client:
        """The API, until the command has ended."""
        return click.get_current_context().find_root().with_resource(self.connect(self.profile))

    @cached_property
    def out(self) -> _Console:
        """Where the answer goes."""
        return _console()

    @cached_property
    def err(self) -> _Console:
        """Where all else goes."""
        return _console(stderr=True)

    @property
    def is_live(self) -> bool:
        """Whether there is a screen to draw on, and a person before it."""
        return self.out.is_live and not self.as_json

    def show(self, members: Mapping[str, Any], told: RenderableType) -> None:
        """Write an answer: its members for a script, what is told for a person."""
        if self.as_json:
            click.echo(line_of_json(members))
        else:
            self.print(told)

    def print(self, told: RenderableType) -> None:
        """Write something for a person."""
        if self.out.file.isatty():
            self.out.print(told, soft_wrap=isinstance(told, str))
            return
        with self.out.capture() as captured:
            self.out.print(told, soft_wrap=isinstance(told, str))
        # the last column of a table is filled up with blanks, which nobody wants in a file
        for line in captured.get().splitlines():
            # colours are here only by FORCE_COLOR, and click would take them out again
            click.echo(line.rstrip(), color=True)

    def note(self, text: str) -> None:
        """Tell a person something that is not the answer."""
        if not self.as_json:
            click.echo(plain(text), err=True)

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Show on a terminal how much is done, and return what is told it.

        Parameters
        ----------
        what : str
            What is done; a constant of ours, or written by `plain`.
        total : int, optional
            How much there is to do, where that is known.
        """
        if not self.err.is_live:
            yield lambda _: None
            return
        told = TextColumn("{task.description}", markup=False)
        known = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        unknown = (TextColumn("{task.fields[count]}"), TimeElapsedColumn())
        with Progress(
            *(SpinnerColumn(), told, *(unknown if total is None else known)),
            console=self.err,
            transient=True,
            # what goes into a pipe must not be drawn above the bar
            redirect_stdout=sys.stdout.isatty(),
        ) as bar:
            task = bar.add_task(what, total=total, count="")
            yield lambda done: bar.update(task, completed=done, count=f"{done:,}")


def complain(text: str) -> None:
    """Write one line about what went wrong."""
    line = plain(text)
    click.echo(
        f"jobqueue: {line if len(line) <= _LONGEST_ERROR else line[:_LONGEST_ERROR] + '...'}", err=True
    )


def end(code: ExitCode) -> NoReturn:
    """End the command."""
    raise click.exceptions.Exit(code)


def _set_profile(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Session).profile_name = value


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Session).as_json = value


def takes_profile(command: Command) -> Command:
    """Give a command the option ``--profile``."""
    return click.option(
        "--profile",
        metavar="NAME",
        callback=_set_profile,
        expose_value=False,
        help="The section of config.toml to use, in place of the environment.",
    )(command)


def takes_json(command: Command) -> Command:
    """Give a command the option ``--json``."""
    return click.option(
        "--json",
        is_flag=True,
        callback=_set_json,
        expose_value=False,
        help="Write one JSON object a line, for scripts.",
    )(command)


in_session = click.make_pass_decorator(Session)
