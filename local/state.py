"""What a running stack tells tests and people, in a file that only its owner may read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from local.paths import WORK


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A running stack.

    Attributes
    ----------
    url : str
        The API's URL, without a slash at its end.
    endpoint : str
        Where the emulator answers for every AWS service.
    keys : mapping of str to str
        One API key per role.
    routes : list of str
        The API's route keys.
    outputs : mapping of str to str
        The stack's outputs, the names of the tables among them.
    resources : mapping of str to str
        Physical ids by logical ids.
    log : str
        The emulator's log.
    pid : int
        The process that ends the stack on SIGTERM.
    emulator_pid : int
        The process group of the emulator and of the functions that it runs.
    """

    url: str
    endpoint: str
    keys: Mapping[str, str]
    routes: list[str]
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    log: str
    pid: int
    emulator_pid: int


@contextmanager
def published(state: State, path: Path) -> Iterator[None]:
    """Keep the state in a file for a while; afterwards remove it, unless another stack has replaced it."""
    write(state, path)
    try:
        yield
    finally:
        if path.exists() and read(path).pid == state.pid:
            path.unlink()


def write(state: State, path: Path) -> None:
    """Write the state, so that a reader sees all of it or none."""
    if path.parent == WORK:
        WORK.mkdir(exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(state), file, indent=2)
        file.write("\n")
    fresh.replace(path)


def read(path: Path) -> State:
    """Return the state that a running stack has written."""
    return State(**json.loads(path.read_text()))
