"""The command line `jobqueue`: an extra of this distribution, ``jobqueue-client[cli]``."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

from .exits import ExitCode


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    try:
        signal.signal(signal.SIGTERM, _end)
        try:
            from .app import cli
        except ModuleNotFoundError as error:
            if error.name not in {"click", "rich"}:
                raise
            sys.stderr.write("jobqueue: the command line is an extra: pip install 'jobqueue-client[cli]'\n")
            sys.exit(ExitCode.USAGE)
        cli()
    except KeyboardInterrupt:
        # before or after the command itself, which sees to its own
        sys.exit(ExitCode.INTERRUPTED)
    sys.exit(ExitCode.DONE)


def _end(_: int, __: FrameType | None) -> NoReturn:
    # an exception, so that a live view gives the terminal back as it was
    sys.exit(ExitCode.TERMINATED)
