"""The deployment, for tests that send it events."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from jobqueue import telemetry
from tests.support.http import ENVIRONMENT, Stack, running_stack


class StandardOutput:
    """Where standard output goes now, and not where it went when the logger was made."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


@pytest.fixture(autouse=True)
def log_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test read the log from its `capsys`."""
    for handler in telemetry.logger.handlers:
        monkeypatch.setattr(handler, "stream", StandardOutput())


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A deployment of its own for each test."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with running_stack() as running:
        yield running
