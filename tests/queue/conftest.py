"""The queue on an engine: moto, or another that ``JOBQUEUE_ENGINE`` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from jobqueue.dynamodb import CONFIG
from tests.support import dynamodb_local
from tests.support.tables import create_tables
from tests.support.workshop import Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Connect = Callable[[], AbstractContextManager["DynamoDBClient"]]
"""Gives a client of an engine that has no tables yet."""


@contextmanager
def on_moto() -> Iterator[Connect]:
    with mock_aws():
        client = boto3.client("dynamodb", config=CONFIG)  # takes longer than most tests

    @contextmanager
    def connect() -> Iterator[DynamoDBClient]:
        with mock_aws():
            yield client

    yield connect


@contextmanager
def on_dynamodb_local() -> Iterator[Connect]:
    client = dynamodb_local.connect(dynamodb_local.for_tests())

    @contextmanager
    def connect() -> Iterator[DynamoDBClient]:
        dynamodb_local.remove_tables(client)
        yield client

    yield connect


ENGINES = {"moto": on_moto, "dynamodb-local": on_dynamodb_local}


@pytest.fixture(scope="session")
def engine() -> Iterator[Connect]:
    """The engine, for as long as tests run."""
    with ENGINES[os.environ.get("JOBQUEUE_ENGINE", "moto")]() as connect:
        yield connect


@pytest.fixture
def dynamodb(engine: Connect) -> Iterator[DynamoDBClient]:
    """A client whose tables are those of template.yaml, empty."""
    with engine() as client:
        create_tables(client)
        yield client


@pytest.fixture
def workshop(dynamodb: DynamoDBClient) -> Workshop:
    """A queue with a clock that stands still."""
    return Workshop(dynamodb)
