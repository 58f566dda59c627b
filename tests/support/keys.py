"""A table of keys to test on, and DynamoDB clients that fail where a test wants them to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from jobqueue.keys import ApiKey, Keyring, KeysTable, KeyState, hash_key
from tests.support.tables import create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

START = datetime(2026, 11, 30, 2, 26, 2, 123456, tzinfo=UTC)
WRITES = frozenset({"put_item", "update_item", "delete_item"})


class SetClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **duration: float) -> None:
        self.now += timedelta(**duration)


class Killed(BaseException):
    """The process is gone: nothing after this runs on DynamoDB."""


class InterruptedClient:
    """A client that does something else before (or after) one of its writes, and is itself otherwise.

    Parameters
    ----------
    client
        The client that does the work.
    write : int
        At which of its writes, counted from 1.
    event : callable
        What happens then. An exception of it is what the caller of the write sees.
    after : bool
        Whether the write lands first.
    """

    def __init__(
        self, client: DynamoDBClient, write: int, event: Callable[[], None], *, after: bool = False
    ) -> None:
        self._client: Any = client
        self._write = write
        self._event = event
        self._after = after
        self._dead = False
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if name not in WRITES:
            return self._alive(method)
        return self._alive(lambda **request: self._counted(method, request))

    def _alive(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **request: Any) -> Any:
            if self._dead:
                raise Killed
            return method(*arguments, **request)

        return call

    def _counted(self, method: Callable[..., Any], request: dict[str, Any]) -> Any:
        self.writes += 1
        if self.writes != self._write:
            return method(**request)
        answer = method(**request) if self._after else None
        try:
            self._event()
        except Killed:
            self._dead = True
            raise
        return answer if self._after else method(**request)


class KeysBench:
    """A table of keys on moto, a clock, and what works on it."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self.client = client
        self.table = table
        self.clock = SetClock()
        self.keyring = self.keyring_on(client)

    def keyring_on(self, client: Any) -> Keyring:
        return Keyring(KeysTable(client, self.table), self.clock)

    def find(self, key: str) -> ApiKey | None:
        return KeysTable(self.client, self.table).get(hash_key(key))

    def works(self, key: str) -> bool:
        found = self.find(key)
        return found is not None and found.state(self.clock()) is KeyState.ACTIVE

    def working_hashes(self) -> set[str]:
        keys = KeysTable(self.client, self.table).scan()
        return {key.key_hash for key in keys if key.state(self.clock()) is KeyState.ACTIVE}

    def items(self) -> list[dict[str, Any]]:
        return list(self.client.scan(TableName=self.table)["Items"])


@pytest.fixture(scope="module")
def keys_table() -> Iterator[tuple[DynamoDBClient, str]]:
    with mock_aws():
        client = boto3.client("dynamodb")
        yield client, create_tables(client)["ApiKeysTable"]


@pytest.fixture
def bench(keys_table: tuple[DynamoDBClient, str]) -> KeysBench:
    client, table = keys_table
    bench = KeysBench(client, table)
    for item in bench.items():
        client.delete_item(TableName=table, Key={"key_hash": item["key_hash"]})
    return bench


def throttle() -> None:
    """Fail like a busy table, after the SDK's own retries."""
    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "busy"}}, "PutItem")


def kill() -> None:
    """End the process."""
    raise Killed
