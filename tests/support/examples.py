"""Plays the examples of the API's description, each in a deployment of its own, whose ids are known."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue.api import batch
from jobqueue.changes import Change
from jobqueue.following import Follower
from jobqueue.job import CROCKFORD
from jobqueue.queues import open_queues_table
from jobqueue.settings import Settings
from jobtypes import JOB_TYPES
from openapi.examples import Example
from tests.support.callers import admin, producer, worker
from tests.support.events import http_event
from tests.support.faults import broken, throttled
from tests.support.http import ENVIRONMENT, Answer, Stack, deployed_tables, running_stack
from tests.support.log import captured_log
from tests.support.streams import Stream

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CALLERS = {
    "producer": producer("shop"),
    "worker": worker("mailer"),
    "admin": admin("ops"),
    "worker of external": worker("robot", "external"),
}
MORE_THAN_IS_TAKEN = 131_073


def played(examples: Iterable[Example]) -> Iterator[Example]:
    """Give each example with the answer that it has today."""
    examples = tuple(examples)
    by_name = {one.name: one for one in examples}
    quiet = (captured_log(), redirect_stdout(StringIO()))
    with pytest.MonkeyPatch.context() as patch, quiet[0], quiet[1], deployed_tables() as client:
        patch.setattr(batch, "SIDE_BY_SIDE", 1)  # or the ids would be given in any order
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        for example in examples:
            answer = _play(client, example, by_name)
            yield replace(
                example,
                status=answer.status,
                answer_headers={
                    name: answer.headers[name]
                    for name in ("content-type", "location", "retry-after")
                    if name in answer.headers
                },
                answer=json.loads(answer.text) if answer.text else None,
            )


def _play(client: DynamoDBClient, example: Example, by_name: Mapping[str, Example]) -> Answer:
    ids, tokens = iter(CROCKFORD), itertools.count(1)
    with running_stack(
        client,
        JOB_TYPES,
        new_id=lambda _: f"job_01M8N4C1RBB1Q714Z4VNBP87A{next(ids)}",
        new_token=lambda: f"kq3ZrV0yT5eWc8Lh1uXn{next(tokens):02}",
    ) as stack:
        stream = Stream(stack.client, "jobs", "LATEST")
        for name in example.after:
            _send(stack, by_name[name])
        follower = Follower(
            open_queues_table(Settings.from_env(ENVIRONMENT), client=client), _Nobody(), JOB_TYPES
        )
        if records := stream.read():
            follower.follow(records)
        with _trouble(stack, example):
            return _send(stack, example)


def _send(stack: Stack, example: Example) -> Answer:
    stack.clock.advance(1)
    body = json.dumps(example.body) if example.body is not None else None
    if example.trouble == "too large":
        body = (body or "{}").ljust(MORE_THAN_IS_TAKEN)
    request: dict[str, Any] = {
        "body": body,
        "query": example.query,
        "headers": example.headers,
        "job_id": example.path.get("id"),
        "queue": example.path.get("queue"),
    }
    if example.trouble == "no authorizer":
        return stack.send(example.function, http_event(example.function, **request))
    return stack.call(example.function, caller=CALLERS[example.caller], **request)


@contextmanager
def _trouble(stack: Stack, example: Example) -> Iterator[None]:
    with ExitStack() as troubles:
        if example.trouble == "too often":
            throttle = troubles.enter_context(stack.limiting(per_second=0.1))
            throttle.admit(CALLERS[example.caller].id)
        elif example.trouble == "throttled":
            troubles.enter_context(throttled(stack.client))
        elif example.trouble == "broken":
            troubles.enter_context(broken(stack.client, RuntimeError()))
        yield


class _Nobody:
    """An event bus where nobody listens."""

    def announce(self, changes: Sequence[Change]) -> int:
        return len(changes)
