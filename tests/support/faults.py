"""Faults of DynamoDB, put into a client where the SDK has its hooks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from moto.core.botocore_stubber import BotocoreStubber

from tests.support.botofaults import Fault, Faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@contextmanager
def lost_reply(client: DynamoDBClient, operation: str) -> Iterator[None]:
    """Lose the first reply to an operation: the request lands, and the SDK sends it again."""
    with Faults.of(client).on(operation, Fault.LOST_REPLY) as injected:
        yield
    assert injected, f"no {operation} was sent"


@contextmanager
def throttled(times: int | None = None) -> Iterator[Counter[str]]:
    """Let moto refuse the first requests (None: all of them) as too many, and count them."""
    refused: Counter[str] = Counter()
    answer = BotocoreStubber.process_request

    def refuse(self: BotocoreStubber, request: Any) -> Any:
        if times is not None and refused.total() >= times:
            return answer(self, request)
        refused[request.headers["X-Amz-Target"].decode().partition(".")[2]] += 1
        kind = "com.amazonaws.dynamodb.v20120810#ThrottlingException"
        body = json.dumps({"__type": kind, "message": "Rate exceeded"})
        return 400, {"x-amzn-errortype": kind}, body.encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BotocoreStubber, "process_request", refuse)
        yield refused


@contextmanager
def broken(client: DynamoDBClient, error: Exception) -> Iterator[None]:
    """Let every request end in an exception that nobody expects."""

    def fail(**_: Any) -> None:
        raise error

    with hooked(client, "before-call.dynamodb", fail):
        yield


@contextmanager
def counted(client: DynamoDBClient) -> Iterator[Counter[str]]:
    """Count what is sent, by operation."""
    sent: Counter[str] = Counter()

    def count(model: Any, **_: Any) -> None:
        sent[model.name] += 1

    with hooked(client, "before-call.dynamodb", count):
        yield sent


@contextmanager
def hooked(client: DynamoDBClient, event: str, handler: Callable[..., Any]) -> Iterator[None]:
    """Let `handler` hear of an event of the SDK, before anybody else."""
    client.meta.events.register_first(event, handler)
    try:
        yield
    finally:
        client.meta.events.unregister(event, handler)
