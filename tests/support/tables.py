"""The tables of template.yaml, made on whatever plays DynamoDB in a test."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.template import Template, resources

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# What create_table takes of a table's properties; recovery and tags mean nothing in a test.
_TAKEN = ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode")


def create_tables(client: DynamoDBClient) -> dict[str, str]:
    """Create every table of template.yaml, and tell their names by logical id.

    ``JobsTable`` is called ``jobs`` and ``ApiKeysTable`` ``api-keys``.
    """
    names = {}
    for logical_id, resource in resources("AWS::DynamoDB::Table").items():
        names[logical_id] = _table_name(logical_id)
        _create(client, names[logical_id], resource["Properties"])
    return names


def _create(client: DynamoDBClient, name: str, properties: Template) -> None:
    taken = {key: properties[key] for key in _TAKEN if key in properties}
    if stream := properties.get("StreamSpecification"):
        taken["StreamSpecification"] = {"StreamEnabled": True, **stream}
    client.create_table(TableName=name, **taken)
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    if time_to_live := properties.get("TimeToLiveSpecification"):
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=time_to_live)


def _table_name(logical_id: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", logical_id.removesuffix("Table")).lower()
