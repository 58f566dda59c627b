"""The tables of template.yaml, made on whatever plays DynamoDB in a test."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from local.tables import create_table
from tests.support.template import resources

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def create_tables(client: DynamoDBClient) -> dict[str, str]:
    """Create every table of template.yaml, and tell their names by logical id.

    ``JobsTable`` is called ``jobs`` and ``ApiKeysTable`` ``api-keys``. TTL deletes nothing: the engine's
    clock is not that of the tests, and what still lasts for them may long be over for it.
    """
    names = {}
    for logical_id, resource in resources("AWS::DynamoDB::Table").items():
        names[logical_id] = _table_name(logical_id)
        create_table(client, names[logical_id], {**resource["Properties"], "TimeToLiveSpecification": None})
    return names


def empty_tables(client: DynamoDBClient) -> None:
    """Remove all items of all tables."""
    for table, key in table_keys().items():
        for item in client.scan(TableName=table)["Items"]:
            client.delete_item(TableName=table, Key={key: item[key]})


@cache
def table_keys() -> dict[str, str]:
    """Return the name of each table's key, by the table's name."""
    return {
        _table_name(logical_id): resource["Properties"]["KeySchema"][0]["AttributeName"]
        for logical_id, resource in resources("AWS::DynamoDB::Table").items()
    }


def _table_name(logical_id: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", logical_id.removesuffix("Table")).lower()
