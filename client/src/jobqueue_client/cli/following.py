"""Looking again and again, and showing what was seen: on a screen, or as a line for each change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import click
from rich.console import RenderableType
from rich.live import Live

from jobqueue_client.client import Client
from jobqueue_client.errors import Unavailable, WaitTimeout
from jobqueue_client.jobs import JsonObject

from .session import Session, complain
from .text import duration, line_of_json, plain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is followed: its name, what makes it another than before, and how it is written."""

    name: str
    state: object
    members: JsonObject
    told: str


def looks(
    client: Client, look: Callable[[], T], interval: float, timeout: float | None = None
) -> Iterator[tuple[T, str]]:
    """Look every `interval` seconds, and return what was seen last and what is wrong now.

    An API that does not answer ends only the first look: whoever watches through an outage wants to see its
    end.

    Raises
    ------
    ClientError
        What a look ended in, other than `Unavailable`.
    WaitTimeout
        `timeout` seconds have passed.
    """
    clock = client.clock
    deadline = float("inf") if timeout is None else clock.monotonic() + timeout
    seen = look()
    trouble = ""
    silent_since: float | None = None
    while True:
        yield seen, trouble
        remaining = deadline - clock.monotonic()
        if remaining <= 0:
            raise WaitTimeout(f"The job did not end within {timeout:g} seconds.")
        clock.sleep(min(interval, remaining))
        try:
            seen = look()
            trouble, silent_since = "", None
        except Unavailable as error:
            silent_since = clock.monotonic() if silent_since is None else silent_since
            trouble = f"{error} Nothing new for {duration(clock.monotonic() - silent_since)}."
            clock.sleep(min(error.retry_after or 0.0, 60.0, max(deadline - clock.monotonic(), 0.0)))


@contextmanager
def view(
    session: Session,
    draw: Callable[[T, str], RenderableType],
    lines: Callable[[T], Iterable[Line]],
    *,
    screen: bool,
) -> Iterator[Callable[[T, str], None]]:
    """Return what shows one look after the other, and gives the terminal back in the end."""
    if not session.is_live:
        yield _Changes(session, lines)
        return
    with Live(console=session.out, screen=screen, auto_refresh=False) as live:
        yield lambda seen, trouble: live.update(draw(seen, trouble), refresh=True)


class _Changes(Generic[T]):
    """Writes a line for whatever is not as it was at the last look."""

    def __init__(self, session: Session, lines: Callable[[T], Iterable[Line]]) -> None:
        self._session = session
        self._lines = lines
        self._states: dict[str, object] = {}
        self._is_troubled = False

    def __call__(self, seen: T, trouble: str) -> None:
        if trouble and not self._is_troubled:
            complain(trouble)
        self._is_troubled = bool(trouble)
        for line in self._lines(seen):
            if line.name not in self._states or self._states[line.name] != line.state:
                self._states[line.name] = line.state
                click.echo(line_of_json(line.members) if self._session.as_json else plain(line.told))
