"""Enforces the policies of template.yaml in every test that sends a request to a function on moto.

moto itself asks nobody for permission. Whatever a function calls while it answers must be granted to it, or
the test fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from botocore.client import BaseClient

from jobqueue.api import dependencies
from jobqueue.api.app import HttpFunction
from jobqueue.authorizer import ACTION, Authorizer
from tests.support.grants import WHERE_CALLERS_ARE_LIMITED, Grant, grants, needed


class PolicyWatch:
    """The plugin: fails each test in which a function called what it is not granted, and counts the calls."""

    def __init__(self, counts: Counter[str]) -> None:
        self._running: list[str] = []
        self._refused: list[str] = []
        self._counts = counts
        self._watching = ExitStack()

    def pytest_sessionstart(self) -> None:
        patch = self._watching.enter_context(pytest.MonkeyPatch.context())
        for owner, name in ((HttpFunction, "lambda_handler"), (Authorizer, "answer")):
            patch.setattr(owner, name, self._running_in(getattr(owner, name)))
        patch.setattr(BaseClient, "_make_api_call", self._checked(vars(BaseClient)["_make_api_call"]))

    def pytest_sessionfinish(self) -> None:
        self._watching.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        yield
        refused, self._refused = self._refused, []
        if refused:
            pytest.fail("no policy grants this:\n" + "\n".join(refused), pytrace=False)

    def _running_in(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(function: HttpFunction | Authorizer, *arguments: Any) -> Any:
            self._running.append(function.action if isinstance(function, HttpFunction) else ACTION)
            try:
                return original(function, *arguments)
            finally:
                self._running.pop()

        return run

    def _checked(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(client: Any, operation: str, sent: Any) -> Any:
            if self._running:
                self._counts["calls held against policies"] += 1
                conditions = [WHERE_CALLERS_ARE_LIMITED] if dependencies.throttle() else []
                for grant in needed(operation, sent) - _granted(self._running[-1], *conditions):
                    self._refused.append(f"{self._running[-1]}: {' on '.join(grant)}")
            return original(client, operation, sent)

        return call


@cache
def _granted(function: str, *conditions: str) -> set[Grant]:
    return grants(function, *conditions)
