"""What template.yaml grants to each function."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from tests.support.functions import declared, logical_id
from tests.support.template import Template, resources, template

Grant: TypeAlias = tuple[str, str]

TABLES = {
    "jobs": "JobsTable.Arn",
    "queues": "QueuesTable.Arn",
    "api-keys": "ApiKeysTable.Arn",
    "callers": "CallersTable.Arn",
}
FOLLOW_STREAM: set[Grant] = {
    ("dynamodb:DescribeStream", "JobsTable.StreamArn"),
    ("dynamodb:GetRecords", "JobsTable.StreamArn"),
    ("dynamodb:GetShardIterator", "JobsTable.StreamArn"),
    ("dynamodb:ListStreams", "${JobsTable.Arn}/stream/*"),
}
WHERE_CALLERS_ARE_LIMITED = "ThrottlesCallers"
# X-Ray knows no resources, so these two cannot be narrowed.
TRACING: set[Grant] = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}


def role_of(name: str) -> Template:
    reference = declared()[name]["Role"]
    assert reference == {"Fn::GetAtt": [f"{logical_id(name)}Role", "Arn"]}, "a role of its own"
    properties: Template = resources("AWS::IAM::Role")[f"{logical_id(name)}Role"]["Properties"]
    return properties


def statements(name: str, *conditions: str) -> list[Template]:
    """Return all that is granted to a function where `conditions` hold, in its role and apart from it."""
    apart = [
        policy["Properties"]
        for policy in resources("AWS::IAM::Policy").values()
        if {"Ref": f"{logical_id(name)}Role"} in policy["Properties"]["Roles"]
    ]
    policies = [*role_of(name)["Policies"], *apart]
    written_out = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    return [statement for one in written_out if (statement := _chosen(one, conditions)) is not None]


def _chosen(statement: Template, conditions: Collection[str]) -> Template | None:
    if statement.keys() != {"Fn::If"}:
        return statement
    condition, granted, otherwise = statement["Fn::If"]
    assert otherwise == {"Ref": "AWS::NoValue"}
    assert condition in template()["Conditions"]
    chosen: Template = granted
    return chosen if condition in conditions else None


def grants(name: str, *conditions: str) -> set[Grant]:
    """Return what a function may do where `conditions` of the template hold."""
    found = set()
    for statement in statements(name, *conditions):
        assert statement.keys() == {"Effect", "Action", "Resource"}
        assert statement["Effect"] == "Allow"
        actions, arns = listed(statement["Action"]), listed(statement["Resource"])
        found |= {(action, written(arn)) for action in actions for arn in arns}
    return found


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def written(arn: Any) -> str:
    match arn:
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{name}.{attribute}"
        case {"Fn::Sub": [str(text), dict()]} | {"Fn::Sub": str(text)} | {"Ref": str(text)} | str(text):
            return text
    raise AssertionError(f"an ARN in a form that this test cannot read: {arn}")


def needed(operation: str, sent: Any) -> set[Grant]:
    """Return the grants that a call of DynamoDB takes, of a client of boto3."""
    found = set()
    for table in [sent["TableName"]] if "TableName" in sent else sent["RequestItems"]:
        of_index = f"${{JobsTable.Arn}}/index/{sent['IndexName']}" if "IndexName" in sent else None
        found.add((f"dynamodb:{operation}", of_index or TABLES.get(table, table)))
    return found
