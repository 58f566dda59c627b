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
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias
from unittest.mock import patch

from botocore import xform_name

from jobqueue.api import dependencies
from jobqueue.authorizer import context
from jobqueue.principal import Principal
from tests.bench.meter import READS, WRITES
from tests.support import dynamodb_local
from tests.support.callers import admin, producer, worker
from tests.support.events import authorized, http_event
from tests.support.http import EMAIL, ENVIRONMENT, JOB_TYPES, Stack
from tests.support.log import captured_log
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REQUESTS = 100
ROUNDS = 5
WARM_UP = 5
BATCH = 4
QUEUE = "emails"
NEW = {"type": "email", "payload": EMAIL}

Call: TypeAlias = tuple[str, dict[str, Any]]


def ratios(url: str) -> dict[str, float]:
    """Return the median ratio of each function of the API that calls DynamoDB, by its folder."""
    with patch.dict(os.environ, ENVIRONMENT), captured_log():
        rounds = [_Round(url).ratios() for _ in range(ROUNDS)]
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


class _Round:
    def __init__(self, url: str) -> None:
        self._ours, self._bare = (dynamodb_local.connect_anew(url, name) for name in ("ours", "bare"))
        self._calls: list[Call] = []
        self._found: dict[str, float] = {}
        for client in (self._ours, self._bare):
            create_tables(client)
        for operation in READS | WRITES | {"BatchGetItem"}:
            self._ours.meta.events.register(f"provide-client-params.dynamodb.{operation}", self._record)
        self._stack = Stack(self._ours)

    def ratios(self) -> dict[str, float]:
        with dependencies.using(self._stack.queue, JOB_TYPES, self._stack.operator):
            self._life()
            self._other_ends()
            self._batches()
            self._queues()
        return self._found

    def _life(self) -> None:
        jobs = self._compare("enqueue_job", producer(), [{"body": NEW}] * REQUESTS)
        self._compare("get_job", producer(), [{"job_id": job["id"]} for job in jobs])
        self._compare("list_jobs", admin(), [{"query": {"status": "pending", "limit": "10"}}] * REQUESTS)
        held = self._compare("claim_job", worker(), [{"body": {}}] * REQUESTS)
        self._compare("heartbeat_job", worker(), [_held(job, lease_seconds=90) for job in held])
        self._compare("complete_job", worker(), [_held(job) for job in held])

    def _other_ends(self) -> None:
        self._compare("release_job", worker(), [_held(job) for job in self._running()])
        held = self._prepare("claim_job", worker(), [{"body": {}}] * REQUESTS)
        self._compare("fail_job", worker(), [_held(job, discard=True, error="no") for job in held])
        ended = [{"job_id": job["id"]} for job in held]
        self._compare("retry_job", admin(), ended)
        self._compare("cancel_job", admin(), ended)

    def _batches(self) -> None:
        batches = [{"body": {"jobs": [NEW] * BATCH}}] * (REQUESTS // BATCH)
        self._compare("enqueue_jobs", producer(), batches)
        tens = self._compare("claim_jobs", worker(), [{"body": {"max_jobs": BATCH}}] * len(batches))
        done = [[{"id": job["id"], "lease_token": job["lease_token"]} for job in ten["jobs"]] for ten in tens]
        self._compare("complete_jobs", worker(), [{"body": {"jobs": jobs}} for jobs in done])

    def _queues(self) -> None:
        self._prepare("fail_job", worker(), [_held(job, discard=True) for job in self._running()])
        steps = [{"queue": QUEUE, "body": {"status": "failed", "limit": BATCH}}] * (REQUESTS // BATCH)
        self._compare("retry_jobs", admin(), steps)
        self._compare("list_queues", admin(), [{}] * REQUESTS)
        for function in ("pause_queue", "resume_queue"):
            self._compare(function, admin(), [{"queue": QUEUE}] * REQUESTS)

    def _running(self) -> list[Any]:
        self._prepare("enqueue_job", producer(), [{"body": NEW}] * REQUESTS)
        return self._prepare("claim_job", worker(), [{"body": {}}] * REQUESTS)

    def _prepare(self, function: str, caller: Principal, requests: list[dict[str, Any]]) -> list[Any]:
        """Send requests, make the same calls on the other side, and return the answers."""
        told = [self._sent(function, self._event(function, caller, request)) for request in requests]
        self._make(self._taken())
        return told

    def _compare(self, function: str, caller: Principal, requests: list[dict[str, Any]]) -> list[Any]:
        """The same, and note the ratio of the processor time of both sides."""
        events = [self._event(function, caller, request) for request in requests]
        told = [self._sent(function, event) for event in events[:WARM_UP]]
        self._make(self._taken())
        ours = _processor_time(lambda: told.extend(self._sent(function, event) for event in events[WARM_UP:]))
        calls = self._taken()
        self._found[function] = ours / _processor_time(lambda: self._make(calls))
        return told

    @staticmethod
    def _event(function: str, caller: Principal, request: dict[str, Any]) -> dict[str, Any]:
        return authorized(http_event(function, **request), context(caller))

    def _sent(self, function: str, event: dict[str, Any]) -> Any:
        answer = self._stack.send(function, event)
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise RuntimeError(f"{function} answered {answer.status}: {answer.text}")
        return answer.json

    def _record(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self._calls.append((xform_name(model.name), dict(params)))

    def _taken(self) -> list[Call]:
        calls, self._calls = self._calls, []
        return calls

    def _make(self, calls: list[Call]) -> None:
        client: DynamoDBClient = self._bare
        for operation, params in calls:
            getattr(client, operation)(**params)


def _held(job: Any, **fields: Any) -> dict[str, Any]:
    return {"job_id": job["id"], "body": {"lease_token": job["lease_token"], **fields}}


def _processor_time(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
