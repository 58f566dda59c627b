"""A minute of nothing calls what docs/scaling.py says, and is billed so."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

import pytest
from botocore.client import BaseClient

from jobqueue import pauses
from jobtypes import JOB_TYPES
from tests.functions.test_work_jobs import WORKER_ENVIRONMENT
from tests.support.http import Stack
from tests.support.lambdas import Context, event
from tests.support.template import ROOT

SCALING: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "scaling.py"))
QUERY_READ_UNITS = 0.5


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the calls of all clients, by operation."""
    calls: Counter[str] = Counter()
    emit: Any = vars(BaseClient)["_make_api_call"]

    def count(self: Any, operation: str, parameters: dict[str, Any]) -> Any:
        calls[operation] += 1
        return emit(self, operation, parameters)

    with patch.object(BaseClient, "_make_api_call", count):
        yield calls


@pytest.mark.parametrize("function", SCALING["IDLE_MINUTE"])
def test_a_minute_of_nothing(function: str, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WORKER_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(pauses, "KNOWN_FOR", pauses.KNOWN_FOR * 0)  # a minute later it is over
    handler = import_module(f"functions.{function}.app").lambda_handler
    handler(event("rescue_jobs"), Context())  # the first one may open clients
    with counted() as calls:
        handler(event("rescue_jobs"), Context())
    said = SCALING["IDLE_MINUTE"][function]
    assert calls == said.calls
    flags = len(JOB_TYPES.queues) * calls["BatchGetItem"]
    assert said.read_units == QUERY_READ_UNITS * calls["Query"] + flags
