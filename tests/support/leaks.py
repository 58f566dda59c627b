"""Looks through all that the functions tell while tests run, for what callers wrote and nobody may repeat.

Tests put the word `CANARY` into whatever a caller can write and into every credential. Whichever test does
so, the word must not come out again in a line of the log, in a metric, in an event, in a trace, or in problem
details. In answers, what only admins see is looked for too, the token of a lease, and what is private of jobs
that are not the caller's.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import EphemeralMetrics
from botocore.client import BaseClient

from jobqueue import telemetry
from jobqueue.api.app import HttpFunction

CANARY = "CANARY"
_FOR_ADMINS = {"error", "errors"}
_OF_ITS_PRODUCER = {"payload", "result", "idempotency_key"}
_CLAIMS = {"claim_job", "claim_jobs"}
_JSON = {"application/json", "application/problem+json"}


class Leaks:
    """What was told, counted by kind, and what of it should not have been.

    Parameters
    ----------
    word : str
        What must not be told, in any letter case.
    """

    def __init__(self, word: str = CANARY) -> None:
        self._word = re.compile(re.escape(word), re.IGNORECASE)
        self.told: Counter[str] = Counter()
        self.found: list[str] = []

    def look(self, kind: str, text: str) -> None:
        """Look through one thing that was told."""
        self.told[kind] += 1
        if self._word.search(text):
            self.found.append(f"{kind}: {text}")

    def look_at_answer(self, function: str, caller: Mapping[str, str], answer: Mapping[str, Any]) -> None:
        """Look through what a function answered to a caller, who is told as the authorizer tells it."""
        self.told["answer"] += 1
        if str(answer["headers"].get("Content-Type")) in _JSON:
            for part in _parts(json.loads(answer["body"])):
                self._look_at_part(function, caller, part)

    def take(self) -> list[str]:
        """Return what was found since the last time."""
        found, self.found = self.found, []
        return found

    def _look_at_part(self, function: str, caller: Mapping[str, str], part: Mapping[str, Any]) -> None:
        role = caller.get("role")
        if str(part.get("type")).startswith("urn:jobqueue:problem:"):
            # the reader is told which path was asked, and which of the fields that it named is unknown
            errors = [error for error in part.get("errors", ()) if error["code"] != "unknown_field"]
            self.look("problem", json.dumps({**part, "instance": None, "errors": errors}))
        elif role != "admin" and _FOR_ADMINS & part.keys():
            self.found.append(f"{function} told a {role} of {sorted(_FOR_ADMINS & part.keys())}")
        elif function not in _CLAIMS and "lease_token" in part:
            self.found.append(f"{function} told a lease's token")
        elif role != "admin" and (private := _OF_ITS_PRODUCER & part.keys() - _may_see(caller, part)):
            self.found.append(f"{function} told {caller.get('principal')} of another's {sorted(private)}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look through everything that is told inside the block."""
        with ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            for owner, name, look in (
                (LambdaPowertoolsFormatter, "format", self._look_at_line),
                (EphemeralMetrics, "serialize_metric_set", self._look_at_metrics),
                (BaseClient, "_make_api_call", self._look_at_call),
                (HttpFunction, "lambda_handler", self._look_at_invocation),
            ):
                patch.setattr(owner, name, _tapped(getattr(owner, name), look))
            other = _OtherLoggers(self)
            logging.getLogger().addHandler(other)
            stack.callback(logging.getLogger().removeHandler, other)
            yield

    def _look_at_line(self, line: str, *_: Any) -> None:
        self.look("log line", line)

    def _look_at_metrics(self, told: Any, *_: Any) -> None:
        self.look("metric line", json.dumps(told))

    def _look_at_call(self, _answer: Any, _client: Any, operation: str, sent: Mapping[str, Any]) -> None:
        if operation == "PutEvents":
            for entry in sent["Entries"]:
                self.look("event", json.dumps(entry, default=str))
        if operation == "PutTraceSegments":
            for document in sent["TraceSegmentDocuments"]:
                self.look("trace", document)

    def _look_at_invocation(self, answer: Any, function: HttpFunction, event: Any, *_: Any) -> None:
        self.look_at_answer(function.action, _caller(event), answer)


class _OtherLoggers(logging.Handler):
    """What libraries log, which Lambda writes into the same log."""

    def __init__(self, leaks: Leaks) -> None:
        super().__init__()
        self._leaks = leaks

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == telemetry.logger.name:
            return  # seen already, as it is written
        self._leaks.look("log line", record.getMessage() + str(record.exc_info or ""))


class LeakWatch:
    """The plugin: fails each test in which something came out, and counts what was looked at."""

    def __init__(self, counts: Counter[str]) -> None:
        self._leaks = Leaks()
        self._counts = counts
        self._watching = ExitStack()

    def pytest_sessionstart(self) -> None:
        self._watching.enter_context(self._leaks.watching())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._watching.close()
        for kind, count in self._leaks.told.items():
            self._counts[f"looked for what leaks, {kind}s"] += count

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        yield
        if found := self._leaks.take():
            pytest.fail("this came out:\n" + "\n".join(found), pytrace=False)


def _tapped(original: Callable[..., Any], look: Callable[..., None]) -> Callable[..., Any]:
    def tapped(*arguments: Any, **options: Any) -> Any:
        told = original(*arguments, **options)
        look(told, *arguments)
        return told

    return tapped


def _parts(body: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each job and each problem of an answer. What a job carries is not looked into."""
    if "type" in body:
        yield body
        return
    yield from body.get("jobs", ())
    for result in body.get("results", ()):
        yield result.get("job") or result["problem"]


def _may_see(caller: Mapping[str, str], job: Mapping[str, Any]) -> set[str]:
    """Return what of `_OF_ITS_PRODUCER` somebody may see who is no admin."""
    principal = caller.get("principal")
    if job.get("created_by") == principal:
        return _OF_ITS_PRODUCER
    if job.get("worker_id") != principal:
        return set()
    return {"payload", "result"} if job.get("status") == "running" else {"result"}


def _caller(event: Any) -> Mapping[str, str]:
    try:
        return dict(event["requestContext"]["authorizer"]["lambda"])
    except (KeyError, TypeError, ValueError):
        return {}
