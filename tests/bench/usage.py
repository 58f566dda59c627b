"""What a job uses on its way through the functions: calls, units, and what is logged of it."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING
from unittest.mock import patch

from jobqueue.api import dependencies
from jobqueue.job import Job, JobPriority, JsonObject
from jobqueue.principal import Principal, Role
from jobqueue.worker import handles
from jobqueue.worker.handlers import Handlers
from jobqueue.worker.shift import Crew, Shift
from tests.bench.meter import Bill, Meter
from tests.bench.prices import Usage
from tests.support import dynamodb_local
from tests.support.callers import producer, worker
from tests.support.http import ENVIRONMENT, JOB_TYPES, Stack
from tests.support.log import captured_log
from tests.support.payloads import Note
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DATABASE = "usage"
BATCH = 10
ROUNDS = 10
OF_A_LOG_EVENT = 26
"""Bytes that CloudWatch adds to each line."""

TYPE, QUEUE = "note", "default"
WORK_JOBS = Principal(
    id="internal:work_jobs", role=Role.WORKER, queues=frozenset({QUEUE}), max_priority=JobPriority.LOW
)


@contextmanager
def logged() -> Iterator[Callable[[], int]]:
    """Tell how many bytes CloudWatch takes in of what is logged inside."""
    off = logging.root.manager.disable
    logging.disable(logging.NOTSET)
    metrics = io.StringIO()
    with captured_log() as text, redirect_stdout(metrics):
        yield lambda: _billed(text()) + _billed(metrics.getvalue())
    logging.disable(off)


def one_by_one(url: str, payload: JsonObject) -> Usage:
    """Measure a life of three requests."""

    def live(stack: Stack) -> None:
        stack.enqueue(type=TYPE, payload=payload)
        held = stack.claim(queues=[QUEUE])
        body = {"lease_token": held["lease_token"], "result": {"done": True}}
        _sent(stack, "complete_job", held["id"], worker(), body)

    bill, size = _measured(url, live, jobs=1)
    return Usage(bill=bill, requests=3, log_bytes=size)


def in_batches(url: str, payload: JsonObject) -> Usage:
    """Measure a life of three requests for ten jobs."""

    def live(stack: Stack) -> None:
        new = [{"type": TYPE, "payload": payload}] * BATCH
        _sent(stack, "enqueue_jobs", None, producer(), {"jobs": new})
        held = _sent(stack, "claim_jobs", None, worker(), {"max_jobs": BATCH, "queues": [QUEUE]})["jobs"]
        done = [
            {"id": job["id"], "lease_token": job["lease_token"], "result": {"done": True}} for job in held
        ]
        _sent(stack, "complete_jobs", None, worker(), {"jobs": done})

    bill, size = _measured(url, live, jobs=BATCH)
    return Usage(bill=bill, requests=3 / BATCH, log_bytes=size)


def worked(url: str, payload: JsonObject) -> Usage:
    """Measure a life that begins with a request, and goes on in a worker function that finds ten jobs."""

    @handles(TYPE)
    def handler(job: Job, payload: Note) -> JsonObject:
        return {"done": job.id, "as": type(payload).__name__}

    handlers = Handlers([handler], JOB_TYPES, {QUEUE})

    def live(stack: Stack) -> None:
        ids = {stack.enqueue(type=TYPE, payload=payload) for _ in range(BATCH)}
        crew = Crew(
            queue=stack.queue,
            job_types=JOB_TYPES,
            handlers=handlers,
            caller=WORK_JOBS,
            queues=(QUEUE,),
            concurrency=BATCH,
        )
        Shift(crew, lambda: 300.0, promised=ids).work()

    bill, size = _measured(url, live, jobs=BATCH)
    return Usage(bill=bill, requests=1, invocations=1 / BATCH, log_bytes=size)


def _measured(url: str, live: Callable[[Stack], None], *, jobs: int) -> tuple[Bill, float]:
    """Return the bill and the bytes of log of one job."""
    client: DynamoDBClient = dynamodb_local.connect_anew(url, DATABASE)
    create_tables(client)
    with patch.dict(os.environ, ENVIRONMENT):
        stack = Stack(client)
        with (
            dependencies.using(stack.queue, JOB_TYPES, stack.operator),
            logged() as size,
            Meter(client).measure() as bill,
        ):
            for _ in range(ROUNDS):
                live(stack)
    return bill.per(ROUNDS * jobs), size() / (ROUNDS * jobs)


def _sent(stack: Stack, function: str, job_id: str | None, caller: Principal, body: JsonObject) -> JsonObject:
    answer = stack.call(function, job_id, caller=caller, body=body)
    if answer.status != 200:
        raise RuntimeError(f"{function} answered {answer.status}: {answer.text}")
    told: JsonObject = answer.json
    return told


def _billed(text: str) -> int:
    return sum(len(line.encode()) + OF_A_LOG_EVENT for line in text.splitlines())
