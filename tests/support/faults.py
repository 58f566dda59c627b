"""What goes wrong most often in tests, in few words. All of it is done by `Faults`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from tests.support.botofaults import Fault, Faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@contextmanager
def lost_reply(client: DynamoDBClient, operation: str) -> Iterator[None]:
    """Lose the first reply to an operation: the request lands, and the SDK sends it again."""
    with Faults.of(client).on(operation, Fault.LOST_REPLY) as injected:
        yield
    assert injected, f"no {operation} was sent"


def throttled(client: DynamoDBClient, times: int | None = None) -> AbstractContextManager[Counter[Fault]]:
    """Refuse the first requests (None: all of them) as too many, and count them."""
    return Faults.of(client).on_request(0, Fault.THROTTLED, times=times)


def broken(client: DynamoDBClient, error: Exception) -> AbstractContextManager[None]:
    """Let every request end in an exception that nobody expects."""

    def fail(*_: object) -> None:
        raise error

    return Faults.of(client).watched(fail)


@contextmanager
def counted(client: DynamoDBClient) -> Iterator[Counter[str]]:
    """Count the requests that are sent, by operation."""
    sent: Counter[str] = Counter()
    with Faults.of(client).watched(lambda operation, _: sent.update((operation,))):
        yield sent
