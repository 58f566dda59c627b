"""A queue on moto, for the tests of what works on one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from jobqueue.dynamodb import CONFIG
from tests.support.tables import create_tables
from tests.support.workshop import Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(scope="session")
def dynamodb() -> DynamoDBClient:
    """A client of moto, made once: that takes longer than most tests."""
    with mock_aws():
        return boto3.client("dynamodb", config=CONFIG)


@pytest.fixture
def workshop(dynamodb: DynamoDBClient) -> Iterator[Workshop]:
    """A queue with a clock that stands still, on tables of its own."""
    with mock_aws():
        create_tables(dynamodb)
        yield Workshop(dynamodb)
