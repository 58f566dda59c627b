"""The two ways in which bringing up the stack ends early."""

from __future__ import annotations


class Stopped(Exception):
    """Somebody asked for the end: Ctrl-C, SIGTERM or a closed terminal."""


class StackFailed(Exception):
    """The stack cannot be brought up, or broke while it ran.

    Parameters
    ----------
    reason : str
        One line for a person.
    output : str
        What the tool that failed said, as it said it.
    """

    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.output = output
