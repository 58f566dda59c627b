"""Gives the HTTP API its routes.

AWS imports them from the OpenAPI document that the SAM transform puts into the API's ``Body``.
MiniStack 1.5 ignores that document, so this reads the same one and makes the same routes,
integrations and authorizers by API Gateway's own calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local.aws import Aws
from local.failure import StackFailed
from local.stack import Stack

if TYPE_CHECKING:
    from mypy_boto3_apigatewayv2 import ApiGatewayV2Client

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "x-amazon-apigateway-any-method")
PUBLIC = "NONE"  # what SAM writes for a route with `Authorizer: NONE`


@dataclass(frozen=True, slots=True)
class Api:
    """An HTTP API.

    Attributes
    ----------
    id : str
        What API Gateway calls it.
    routes : frozenset of str
        Its route keys, such as ``GET /jobs/{id}``.
    """

    id: str
    routes: frozenset[str]


def create_routes(aws: Aws, stack: Stack) -> Api:
    """Make the routes of the stack's one HTTP API.

    Raises
    ------
    StackFailed
        If the stack has not exactly one HTTP API, or the API has no routes.
    """
    found = stack.of_type("AWS::ApiGatewayV2::Api")
    if len(found) != 1:
        raise StackFailed(f"expected one HTTP API in the template, found {len(found)}")
    logical_id, properties = found.popitem()
    api_id = stack.resources[logical_id]
    body = stack.resolve(properties.get("Body", {}))
    client = aws.apigateway()
    authorizers = {
        name: create_authorizer(client, api_id, name, scheme["x-amazon-apigateway-authorizer"])
        for name, scheme in body.get("components", {}).get("securitySchemes", {}).items()
    }
    keys: list[str] = []
    for path, item in body.get("paths", {}).items():
        for method in METHODS:
            if method in item:
                operation = {"security": body.get("security", []), **item[method]}
                keys.append(f"{verb(method)} {path}")
                create_route(client, api_id, keys[-1], operation, authorizers)
    if not keys:
        raise StackFailed("the HTTP API of the template has no routes")
    return Api(api_id, frozenset(keys))


def create_authorizer(
    client: ApiGatewayV2Client, api_id: str, name: str, described: Mapping[str, Any]
) -> str:
    """Make one Lambda authorizer and return its id."""
    return client.create_authorizer(
        ApiId=api_id,
        Name=name,
        AuthorizerType="REQUEST",
        AuthorizerUri=described["authorizerUri"],
        AuthorizerPayloadFormatVersion=described["authorizerPayloadFormatVersion"],
        EnableSimpleResponses=bool(described.get("enableSimpleResponses", False)),
        IdentitySource=identity_sources(described),
        AuthorizerResultTtlInSeconds=int(described.get("authorizerResultTtlInSeconds", 0)),
    )["AuthorizerId"]


def create_route(
    client: ApiGatewayV2Client,
    api_id: str,
    key: str,
    operation: Mapping[str, Any],
    authorizers: Mapping[str, str],
) -> None:
    """Make one route, such as ``GET /jobs/{id}``, with its integration."""
    described = operation["x-amazon-apigateway-integration"]
    integration = client.create_integration(
        ApiId=api_id,
        IntegrationType="AWS_PROXY",
        IntegrationUri=described["uri"],
        IntegrationMethod=described.get("httpMethod", "POST"),
        PayloadFormatVersion=described["payloadFormatVersion"],
        TimeoutInMillis=int(described.get("timeoutInMillis", 30_000)),
    )
    target = f"integrations/{integration['IntegrationId']}"
    needed = [name for scheme in operation["security"] for name in scheme]
    if needed in ([], [PUBLIC]):
        client.create_route(ApiId=api_id, RouteKey=key, Target=target, AuthorizationType="NONE")
        return
    if len(needed) != 1 or needed[0] not in authorizers:
        raise StackFailed(f"local/ cannot guard {key} by {needed}")
    client.create_route(
        ApiId=api_id,
        RouteKey=key,
        Target=target,
        AuthorizationType="CUSTOM",
        AuthorizerId=authorizers[needed[0]],
    )


def identity_sources(described: Mapping[str, Any]) -> list[str]:
    """Return the identity sources as a list; OpenAPI has them as a list or as one text with commas."""
    found = described.get("identitySource", [])
    return [part.strip() for part in found.split(",")] if isinstance(found, str) else list(found)


def verb(method: str) -> str:
    """Return the method as a route key has it."""
    return "ANY" if method == METHODS[-1] else method.upper()
