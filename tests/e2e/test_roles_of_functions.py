from __future__ import annotations

import boto3
import pytest
from botocore.exceptions import ClientError

from local.environment import REGION
from tests.e2e.running import Stack


def test_the_emulator_enforces_what_a_role_grants(stack: Stack) -> None:
    iam = stack.aws.iam()
    name = "nobody"
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    nobody = boto3.client(
        "dynamodb",
        endpoint_url=stack.state.endpoint,
        region_name=REGION,
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
    )
    table = stack.state.outputs["JobsTableName"]

    with pytest.raises(ClientError) as refused:
        nobody.get_item(TableName=table, Key={"id": {"S": "job_x"}})

    assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
    assert "Item" not in stack.aws.dynamodb().get_item(TableName=table, Key={"id": {"S": "job_x"}})
    iam.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName=name)
