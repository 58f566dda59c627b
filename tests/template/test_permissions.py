"""Each function may do exactly what it does, to exactly what it does it to."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

from tests.support.functions import declared, logical_id
from tests.support.template import Template, resources, transformed

Grant: TypeAlias = tuple[str, str]

TABLE, INDEX, KEYS = "JobsTable.Arn", "${JobsTable.Arn}/index/lanes", "ApiKeysTable.Arn"
CHANGE = {("dynamodb:GetItem", TABLE), ("dynamodb:UpdateItem", TABLE)}
FIND_AND_CHANGE = CHANGE | {("dynamodb:Query", INDEX)}
QUEUES = "QueuesTable.Arn"
READ_QUEUES, WRITE_QUEUE = ("dynamodb:BatchGetItem", QUEUES), ("dynamodb:UpdateItem", QUEUES)
CLAIM = FIND_AND_CHANGE | {READ_QUEUES}
FOLLOW_STREAM = {
    ("dynamodb:DescribeStream", "JobsTable.StreamArn"),
    ("dynamodb:GetRecords", "JobsTable.StreamArn"),
    ("dynamodb:GetShardIterator", "JobsTable.StreamArn"),
    ("dynamodb:ListStreams", "${JobsTable.Arn}/stream/*"),
}
IDENTITY = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/"
GRANTS: dict[str, set[Grant]] = {
    "authorize_request": {("dynamodb:GetItem", KEYS)},
    "cancel_job": CHANGE,
    "claim_job": CLAIM,
    "claim_jobs": CLAIM,
    "complete_job": CHANGE,
    "complete_jobs": CHANGE,
    "enqueue_job": {("dynamodb:PutItem", TABLE)},
    "enqueue_scheduled": {("dynamodb:PutItem", TABLE)},
    "enqueue_jobs": {("dynamodb:PutItem", TABLE)},
    "fail_job": CHANGE,
    "follow_jobs": FOLLOW_STREAM | {WRITE_QUEUE, ("events:PutEvents", "EventBus.Arn")},
    "get_job": {("dynamodb:GetItem", TABLE)},
    "heartbeat_job": CHANGE,
    "list_jobs": {("dynamodb:Query", INDEX)},
    "list_queues": {("dynamodb:Query", INDEX), READ_QUEUES},
    "measure_queues": {("dynamodb:Query", INDEX), READ_QUEUES, WRITE_QUEUE},
    "pause_queue": {WRITE_QUEUE},
    "release_job": CHANGE,
    "rescue_jobs": FIND_AND_CHANGE,
    "resume_queue": {WRITE_QUEUE},
    "retry_job": CHANGE,
    "retry_jobs": FIND_AND_CHANGE,
    "show_console": set(),
    "show_openapi": set(),
    "work_jobs": {
        *CLAIM,
        *FOLLOW_STREAM,
        ("lambda:InvokeFunction", "WorkJobsFunction.Arn"),
        ("secretsmanager:GetSecretValue", "WebhookSecret.Id"),
        ("ses:SendEmail", f"{IDENTITY}${{SenderAddress}}"),
        ("ses:SendEmail", f"{IDENTITY}${{Domain}}"),
    },
}
# X-Ray knows no resources, so these two cannot be narrowed.
TRACING = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
# Asks which streams a table has, so it cannot name one.
OF_ONE_TABLE = {("dynamodb:ListStreams", "${JobsTable.Arn}/stream/*")}
LOGS = "service-role/AWSLambdaBasicExecutionRole"


def role_of(name: str) -> Template:
    reference = declared()[name]["Role"]
    assert reference == {"Fn::GetAtt": [f"{logical_id(name)}Role", "Arn"]}, "a role of its own"
    properties: Template = resources("AWS::IAM::Role")[f"{logical_id(name)}Role"]["Properties"]
    return properties


def statements(name: str) -> list[Template]:
    """Return all that is granted to a function, in its role and apart from it."""
    apart = [
        policy["Properties"]
        for policy in resources("AWS::IAM::Policy").values()
        if {"Ref": f"{logical_id(name)}Role"} in policy["Properties"]["Roles"]
    ]
    policies = [*role_of(name)["Policies"], *apart]
    return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]


def grants(name: str) -> set[Grant]:
    found = set()
    for statement in statements(name):
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


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_function_has_its_grants_and_no_more(name: str) -> None:
    assert grants(name) == GRANTS[name] | TRACING


@pytest.mark.parametrize("name", sorted(declared()))
def test_only_lambda_takes_the_role(name: str) -> None:
    (statement,) = role_of(name)["AssumeRolePolicyDocument"]["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }


def test_no_managed_policy_but_the_one_for_logs_is_deployed() -> None:
    roles = resources("AWS::IAM::Role", transformed())
    assert roles.keys() == resources("AWS::IAM::Role").keys(), "the transform made a role of its own"
    for role in roles.values():
        (policy,) = role["Properties"]["ManagedPolicyArns"]
        assert written(policy).endswith(f":iam::aws:policy/{LOGS}")


def test_nothing_is_granted_by_wildcard() -> None:
    for name in declared():
        for action, arn in grants(name) - TRACING - OF_ONE_TABLE:
            assert "*" not in action + arn, name


def test_only_the_authorizer_knows_the_table_of_keys() -> None:
    knowing = {name for name, function in declared().items() if "ApiKeysTable" in str(function)}
    assert knowing == {"authorize_request"}
    holders = {name for name, role in resources("AWS::IAM::Role").items() if "ApiKeysTable" in str(role)}
    assert holders == {"AuthorizeRequestRole"}


def test_nothing_scans_or_uses_transactions() -> None:
    actions = {action for name in declared() for action, _ in grants(name)}
    assert actions & {"dynamodb:Scan", "dynamodb:TransactWriteItems", "dynamodb:TransactGetItems"} == set()
