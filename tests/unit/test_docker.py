"""What `sam local` is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from local.docker import create_tables, prepare
from tests.support.template import template

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.parametrize(
    ("machine", "architecture"),
    [("arm64", "arm64"), ("aarch64", "arm64"), ("x86_64", "x86_64"), ("AMD64", "x86_64")],
)
def test_the_functions_find_the_database_and_run_on_this_processor(machine: str, architecture: str) -> None:
    prepared = prepare(template(), "http://dynamodb:8000", machine)
    variables = prepared["Globals"]["Function"]["Environment"]["Variables"]
    assert variables.pop("AWS_ENDPOINT_URL_DYNAMODB") == "http://dynamodb:8000"
    assert prepared["Parameters"]["Architecture"]["Default"] == architecture
    prepared["Parameters"]["Architecture"]["Default"] = template()["Parameters"]["Architecture"]["Default"]
    assert prepared == template()


def test_tables_that_are_there_are_kept() -> None:
    with mock_aws():
        client: DynamoDBClient = boto3.client("dynamodb", region_name="us-east-1")
        # the last one, too: a rate can be set when the functions are run
        all_of_them = {"JobsTable", "ApiKeysTable", "QueuesTable", "CallersTable"}
        assert create_tables(client, template()) == all_of_them
        client.put_item(TableName="ApiKeysTable", Item={"key_hash": {"S": "kept"}})
        client.delete_table(TableName="QueuesTable")
        assert create_tables(client, template()) == {"QueuesTable"}
        assert client.scan(TableName="ApiKeysTable")["Count"] == 1
