"""What the tests counted, told at the end of the run: of one process, or of all that shared the work."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROPERTY = "counted: "
"""``record_property("counted: NAME", n)`` adds to the count NAME, from any test."""

KEPT_IN = "JOBQUEUE_COUNTS"
"""Names a file that the counts are added to, for whoever starts several runs and tells them together."""


class Tally:
    """The plugin. Other plugins count into `counts`.

    Attributes
    ----------
    counts : Counter
        By what is told of them.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was counted here, where another process tells it."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[PROPERTY] = dict(self.counts)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a process counted."""
        self.counts.update(getattr(node, "workeroutput", {}).get(PROPERTY, {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell it all."""
        counts = dict(self.counts)
        for name, count in _recorded(terminalreporter):
            counts[name] = counts.get(name, 0) + count  # a zero is told, too
        lines = [f"{name}: {count:,}" for name, count in sorted(counts.items())]
        for line in lines:
            terminalreporter.write_line(line)
        if path := os.environ.get(KEPT_IN):
            with Path(path).open("a", encoding="utf-8") as kept:
                kept.writelines(f"{line}\n" for line in lines)


def _recorded(terminalreporter: pytest.TerminalReporter) -> Iterator[tuple[str, Any]]:
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, count in report.user_properties if report.when == "call" else ():
                if name.startswith(PROPERTY):
                    yield name.removeprefix(PROPERTY), count
