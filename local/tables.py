"""The tables of template.yaml, where there is no CloudFormation to make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# What create_table takes of a table's properties; recovery and tags mean nothing on a laptop.
_TAKEN = ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode")


def create_table(client: DynamoDBClient, name: str, properties: Mapping[str, Any]) -> None:
    """Create a table, and wait until it can be used.

    Parameters
    ----------
    client : DynamoDBClient
        Of whatever plays DynamoDB.
    name : str
        What the table is called there.
    properties : mapping
        As CloudFormation has them.
    """
    taken = {key: properties[key] for key in _TAKEN if key in properties}
    if stream := properties.get("StreamSpecification"):
        taken["StreamSpecification"] = {"StreamEnabled": True, **stream}
    client.create_table(TableName=name, **taken)
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    if time_to_live := properties.get("TimeToLiveSpecification"):
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=time_to_live)
