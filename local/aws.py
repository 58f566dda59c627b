"""Clients of the emulator, which look at no configuration of the person's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from local.environment import ACCESS_KEY, REGION, SECRET_KEY

if TYPE_CHECKING:
    from mypy_boto3_apigatewayv2 import ApiGatewayV2Client
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_sesv2 import SESV2Client

CONFIG = Config(connect_timeout=5, read_timeout=60, proxies={}, retries={"max_attempts": 3})


@dataclass(frozen=True, slots=True)
class Aws:
    """Makes clients for one emulator.

    Attributes
    ----------
    endpoint : str
        Its URL, without a path.
    """

    endpoint: str
    session: boto3.Session

    def apigateway(self) -> ApiGatewayV2Client:
        """Return a client of API Gateway's HTTP APIs."""
        return self.session.client("apigatewayv2", endpoint_url=self.endpoint, config=CONFIG)

    def cloudformation(self) -> CloudFormationClient:
        """Return a client of CloudFormation."""
        return self.session.client("cloudformation", endpoint_url=self.endpoint, config=CONFIG)

    def dynamodb(self) -> DynamoDBClient:
        """Return a client of DynamoDB."""
        return self.session.client("dynamodb", endpoint_url=self.endpoint, config=CONFIG)

    def functions(self) -> LambdaClient:
        """Return a client of Lambda."""
        return self.session.client("lambda", endpoint_url=self.endpoint, config=CONFIG)

    def iam(self) -> IAMClient:
        """Return a client of IAM."""
        return self.session.client("iam", endpoint_url=self.endpoint, config=CONFIG)

    def logs(self) -> CloudWatchLogsClient:
        """Return a client of CloudWatch Logs."""
        return self.session.client("logs", endpoint_url=self.endpoint, config=CONFIG)

    def ses(self) -> SESV2Client:
        """Return a client of SES v2."""
        return self.session.client("sesv2", endpoint_url=self.endpoint, config=CONFIG)


def connect(endpoint: str) -> Aws:
    """Return the maker of clients for the emulator at `endpoint`."""
    session = boto3.Session(
        aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION
    )
    return Aws(endpoint, session)
