"""Tests on DynamoDB Local, one server for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dynamodb.scenarios import ONE_QUEUE
from tests.support import dynamodb_local
from tests.support.botofaults import Faults
from tests.support.office import Office
from tests.support.tables import create_tables, empty_tables
from tests.support.workshop import Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.dynamodb)


@pytest.fixture(scope="session")
def url() -> str:
    """Where DynamoDB Local listens."""
    return dynamodb_local.for_tests()


@pytest.fixture
def client(url: str) -> DynamoDBClient:
    """A client whose tables are those of template.yaml, empty."""
    client = dynamodb_local.connect_anew(url, "onetest")
    create_tables(client)
    return client


@pytest.fixture(scope="module")
def shared_client(url: str) -> DynamoDBClient:
    """The same, for all tests of a module that leave its tables empty."""
    client = dynamodb_local.connect_anew(url, "manytests")
    create_tables(client)
    return client


@pytest.fixture(scope="module")
def faults(shared_client: DynamoDBClient) -> Faults:
    """What can go wrong between `shared_client` and DynamoDB."""
    return Faults.of(shared_client)


@pytest.fixture
def workshop(shared_client: DynamoDBClient) -> Iterator[Workshop]:
    """A queue with a clock that stands still; what it stored is removed afterwards."""
    workshop = Workshop(shared_client, ONE_QUEUE)
    yield workshop
    empty_tables(shared_client)


@pytest.fixture
def office(shared_client: DynamoDBClient) -> Iterator[Office]:
    """The same, with its office."""
    office = Office(shared_client, ONE_QUEUE)
    yield office
    empty_tables(shared_client)
