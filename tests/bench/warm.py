"""Processor time of a whole warm invocation, beside a bare function that makes the same calls of boto3.

The calls of some invocations are recorded, and made again by the bare function on tables of its own, in the
same order, so that they meet the same state and have the same outcome. DynamoDB Local runs in a process of
its own: only our side is counted.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias
from unittest.mock import patch

from botocore import xform_name

from jobqueue.api import dependencies
from jobqueue.authorizer import context
from jobqueue.principal import Principal
from tests.bench.meter import READS, WRITES
from tests.support import dynamodb_local
from tests.support.callers import producer, worker
from tests.support.events import authorized, http_event
from tests.support.http import EMAIL, ENVIRONMENT, JOB_TYPES, Answer, Stack
from tests.support.log import captured_log
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INVOCATIONS = 100
ROUNDS = 5
WARM_UP = 5

Call: TypeAlias = tuple[str, dict[str, Any]]


def ratios(url: str) -> dict[str, float]:
    """Return the median ratio of each function that a job's life goes through, by its folder."""
    with patch.dict(os.environ, ENVIRONMENT), captured_log():
        rounds = [_Round(url).ratios() for _ in range(ROUNDS)]
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


class _Round:
    def __init__(self, url: str) -> None:
        self._ours, self._bare = dynamodb_local.connect(url), dynamodb_local.connect(url)
        self._calls: list[Call] = []
        for client in (self._ours, self._bare):
            create_tables(client)
        for operation in READS | WRITES:
            self._ours.meta.events.register(f"provide-client-params.dynamodb.{operation}", self._record)
        self._stack = Stack(self._ours)

    def ratios(self) -> dict[str, float]:
        jobs = range(INVOCATIONS + WARM_UP)
        email = {"type": "email", "payload": EMAIL}
        with dependencies.using(self._stack.queue, JOB_TYPES):
            found = {}
            found["enqueue_job"], made = self._compare(
                "enqueue_job", producer(), [{"body": email} for _ in jobs]
            )
            ids = [answer.json["id"] for answer in made]
            found["get_job"], _ = self._compare("get_job", producer(), [{"job_id": one} for one in ids])
            found["claim_job"], made = self._compare("claim_job", worker(), [{"body": {}} for _ in jobs])
            held = [
                {"job_id": answer.json["id"], "body": {"lease_token": answer.json["lease_token"]}}
                for answer in made
            ]
            found["heartbeat_job"], _ = self._compare(
                "heartbeat_job",
                worker(),
                [{**one, "body": {**one["body"], "lease_seconds": 90}} for one in held],
            )
            found["complete_job"], _ = self._compare("complete_job", worker(), held)
        return found

    def _compare(
        self, function: str, caller: Principal, requests: list[dict[str, Any]]
    ) -> tuple[float, list[Answer]]:
        events = [authorized(http_event(function, **request), context(caller)) for request in requests]
        answers: list[Answer] = []

        def send(event: dict[str, Any]) -> None:
            answers.append(self._stack.send(function, event))

        for event in events[:WARM_UP]:
            send(event)
        self._make(self._taken())
        ours = _processor_time(lambda: list(map(send, events[WARM_UP:])))
        calls = self._taken()
        return ours / _processor_time(lambda: self._make(calls)), answers

    def _record(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self._calls.append((xform_name(model.name), dict(params)))

    def _taken(self) -> list[Call]:
        calls, self._calls = self._calls, []
        return calls

    def _make(self, calls: list[Call]) -> None:
        client: DynamoDBClient = self._bare
        for operation, params in calls:
            getattr(client, operation)(**params)


def _processor_time(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
