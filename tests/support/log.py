"""What the functions log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest

from jobqueue import telemetry


@contextmanager
def log_lines() -> Iterator[list[dict[str, Any]]]:
    """Collect what the functions log; the list is filled when the block ends."""
    lines: list[dict[str, Any]] = []
    with captured_log() as text:
        yield lines
    lines.extend(json.loads(line) for line in text().splitlines())


@contextmanager
def captured_log() -> Iterator[Callable[[], str]]:
    """Collect the log as text: the yielded function returns all of it so far."""
    stream = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for one in telemetry.logger.handlers:
            patch.setattr(one, "stream", stream)
        yield stream.getvalue
