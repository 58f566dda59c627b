"""Each function may do exactly what it does, to exactly what it does it to."""

from __future__ import annotations

import re

import pytest

from tests.support.functions import declared
from tests.support.grants import (
    FOLLOW_STREAM,
    TRACING,
    WHERE_CALLERS_ARE_LIMITED,
    Grant,
    grants,
    role_of,
    written,
)
from tests.support.template import resources, transformed

TABLE, INDEX, KEYS = "JobsTable.Arn", "${JobsTable.Arn}/index/lanes", "ApiKeysTable.Arn"
CHANGE = {("dynamodb:GetItem", TABLE), ("dynamodb:UpdateItem", TABLE)}
FIND_AND_CHANGE = CHANGE | {("dynamodb:Query", INDEX)}
QUEUES = "QueuesTable.Arn"
READ_QUEUES, WRITE_QUEUE = ("dynamodb:BatchGetItem", QUEUES), ("dynamodb:UpdateItem", QUEUES)
CLAIM = FIND_AND_CHANGE | {READ_QUEUES}
COUNT_CALLER = ("dynamodb:UpdateItem", "CallersTable.Arn")
OFF_THE_API = {"follow_jobs", "measure_queues", "rescue_jobs", "work_jobs", "enqueue_scheduled"}
BEHIND_NO_AUTHORIZER = {"authorize_request", "show_console", "show_openapi"}
IDENTITY = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/"
GRANTS: dict[str, set[Grant]] = {
    "authorize_request": {("dynamodb:GetItem", KEYS)},
    "cancel_job": CHANGE,
    "claim_job": CLAIM,
    "claim_jobs": CLAIM,
    "complete_job": CHANGE,
    "complete_jobs": {("dynamodb:UpdateItem", TABLE)},
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
# Asks which streams a table has, so it cannot name one.
OF_ONE_TABLE = {("dynamodb:ListStreams", "${JobsTable.Arn}/stream/*")}
LOGS = "service-role/AWSLambdaBasicExecutionRole"


def traced(name: str) -> set[Grant]:
    """Return what a function needs to write traces, if it does."""
    return TRACING if declared()[name].get("Tracing", "Active") == "Active" else set()


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_function_has_its_grants_and_no_more(name: str) -> None:
    assert grants(name) == GRANTS[name] | traced(name)


@pytest.mark.parametrize("name", sorted(declared()))
def test_where_callers_are_limited_those_that_have_callers_count_them(name: str) -> None:
    more = set() if name in OFF_THE_API | BEHIND_NO_AUTHORIZER else {COUNT_CALLER}
    assert grants(name, WHERE_CALLERS_ARE_LIMITED) == GRANTS[name] | traced(name) | more


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
        for action, arn in grants(name, WHERE_CALLERS_ARE_LIMITED) - TRACING - OF_ONE_TABLE:
            assert "*" not in action + arn, name


def test_only_the_authorizer_knows_the_table_of_keys() -> None:
    knowing = {name for name, function in declared().items() if "ApiKeysTable" in str(function)}
    assert knowing == {"authorize_request"}
    holders = {name for name, role in resources("AWS::IAM::Role").items() if "ApiKeysTable" in str(role)}
    assert holders == {"AuthorizeRequestRole"}


def test_nothing_scans_or_uses_transactions() -> None:
    actions = {action for name in declared() for action, _ in grants(name, WHERE_CALLERS_ARE_LIMITED)}
    assert actions & {"dynamodb:Scan", "dynamodb:TransactWriteItems", "dynamodb:TransactGetItems"} == set()


def test_nothing_can_delete_a_job_or_anything_else() -> None:
    actions = {action for name in declared() for action, _ in grants(name, WHERE_CALLERS_ARE_LIMITED)}
    deleting = re.compile("delete|batchwrite|partiql|execute|purge", re.IGNORECASE)
    assert not [action for action in actions if deleting.search(action)]
