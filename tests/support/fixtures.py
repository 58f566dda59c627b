"""Fixtures for tests that send events to the deployment; a conftest.py names those that it offers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from jobqueue import telemetry
from tests.support.http import ENVIRONMENT, Stack, deployed_tables, running_stack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


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


@pytest.fixture(scope="module")
def tables() -> Iterator[DynamoDBClient]:
    """The tables, made once for the tests of a module."""
    with deployed_tables() as client:
        yield client


@pytest.fixture
def stack(tables: DynamoDBClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A deployment for each test, with nothing in its tables."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with running_stack(tables) as running:
        yield running
