"""Child processes that never outlive this one, nor leave children of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from local.failure import StackFailed
from local.stop import Stop

PATIENCE_SECONDS = 5.0


class Child:
    """A Python module that runs in a session of its own, so that its whole family can be ended.

    Parameters
    ----------
    module : sequence of str
        The module and its arguments, as after ``python -m``.
    environment : mapping of str to str
        Its whole environment.
    folder : Path
        The working folder.
    output : Path
        Where its standard output and error are written.
    leavings : Path or None
        A folder to remove if this process dies without having ended the child.
    """

    def __init__(
        self,
        module: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        output: Path,
        leavings: Path | None = None,
    ) -> None:
        self.output = output
        reading, self._lifeline = os.pipe()
        with output.open("wb") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "local.tied", str(reading), str(leavings or ""), *module],
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                pass_fds=[reading],
                start_new_session=True,
            )
        os.close(reading)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """What it ended with, or None while it runs."""
        return self._process.poll()

    def said(self) -> str:
        """Return all that it has written so far."""
        return self.output.read_text(errors="replace").strip()

    def end(self) -> None:
        """End it and every process that it started, by force after five seconds."""
        self._signal(signal.SIGTERM)
        give_up = time.monotonic() + PATIENCE_SECONDS
        while self._family_alive() and time.monotonic() < give_up:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._lifeline)

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS says EPERM of a group of zombies
            return

    def _family_alive(self) -> bool:
        self._process.poll()  # reaps it: a zombie still counts as a member of its group
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def run(
    step: str,
    module: Sequence[str],
    stop: Stop,
    *,
    environment: Mapping[str, str],
    folder: Path,
    output: Path,
) -> str:
    """Run a module to its end and return what it said.

    Raises
    ------
    StackFailed
        If it ends with anything but 0; carries its output.
    Stopped
        If the end is asked for meanwhile; the module is ended first.
    """
    with Child(module, environment=environment, folder=folder, output=output) as child:
        while (code := child.exit_code) is None:
            stop.sleep(0.05)
    if code != 0:
        raise StackFailed(f"{step} failed (exit {code})", child.said())
    return child.said()
