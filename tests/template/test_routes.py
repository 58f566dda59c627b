"""Every route has one function, and nobody reaches it without a credential."""

from __future__ import annotations

import re
from typing import TypeAlias

from tests.support.template import Template, resources, template, transformed

Route: TypeAlias = tuple[str, str]

ROUTES: dict[Route, str] = {
    ("POST", "/jobs"): "EnqueueJobFunction",
    ("GET", "/jobs"): "ListJobsFunction",
    ("GET", "/jobs/{id}"): "GetJobFunction",
    ("POST", "/jobs/claim"): "ClaimJobFunction",
    ("POST", "/jobs/{id}/complete"): "CompleteJobFunction",
    ("POST", "/jobs/{id}/fail"): "FailJobFunction",
    ("POST", "/jobs/{id}/heartbeat"): "HeartbeatJobFunction",
    ("POST", "/jobs/{id}/release"): "ReleaseJobFunction",
    ("POST", "/jobs/{id}/cancel"): "CancelJobFunction",
    ("POST", "/jobs/{id}/retry"): "RetryJobFunction",
    ("POST", "/jobs/batch"): "EnqueueJobsFunction",
    ("POST", "/jobs/batch/claim"): "ClaimJobsFunction",
    ("POST", "/jobs/batch/complete"): "CompleteJobsFunction",
    ("GET", "/queues"): "ListQueuesFunction",
    ("POST", "/queues/{queue}/pause"): "PauseQueueFunction",
    ("POST", "/queues/{queue}/resume"): "ResumeQueueFunction",
    ("POST", "/queues/{queue}/retry"): "RetryJobsFunction",
    ("GET", "/console"): "ShowConsoleFunction",
    ("GET", "/openapi.json"): "ShowOpenapiFunction",
}
# No data is behind these.
PUBLIC: set[Route] = {("GET", "/console"), ("GET", "/openapi.json")}


def openapi() -> Template:
    body: Template = transformed()["Resources"]["Api"]["Properties"]["Body"]
    return body


def operations() -> dict[Route, Template]:
    return {
        (method.upper(), path): operation
        for path, methods in openapi()["paths"].items()
        for method, operation in methods.items()
    }


def target(operation: Template) -> str:
    integration = operation["x-amazon-apigateway-integration"]
    assert integration["payloadFormatVersion"] == "2.0"
    found = re.search(r"functions/\$\{(\w+)\.Arn\}/invocations", integration["uri"]["Fn::Sub"])
    assert found
    return found[1]


def test_every_route_has_a_function_of_its_own() -> None:
    routes = {route: target(operation) for route, operation in operations().items()}
    assert routes == ROUTES
    assert len(set(routes.values())) == len(routes)


def test_every_route_asks_for_a_credential() -> None:
    for route, operation in operations().items():
        assert operation["security"] == ([{"NONE": []}] if route in PUBLIC else [{"Credential": []}]), route


def test_the_authorizer_answers_simply_and_is_remembered_as_long_as_the_deployer_says() -> None:
    schemes = openapi()["components"]["securitySchemes"]
    (authorizer,) = [scheme["x-amazon-apigateway-authorizer"] for scheme in schemes.values()]
    assert authorizer["type"] == "request"
    assert authorizer["authorizerPayloadFormatVersion"] == "2.0"
    assert authorizer["enableSimpleResponses"] is True
    assert authorizer["identitySource"] == ["$request.header.Authorization"]
    assert authorizer["authorizerResultTtlInSeconds"] == {"Ref": "AuthorizerTtlSeconds"}
    assert "AuthorizeRequestFunction" in str(authorizer["authorizerUri"])


def test_the_api_may_call_each_function_on_its_own_route_alone() -> None:
    permissions = [
        one["Properties"]
        for one in resources("AWS::Lambda::Permission", transformed()).values()
        if one["Properties"]["Principal"] == "apigateway.amazonaws.com"
    ]
    allowed = {
        written_route(one["SourceArn"]): one["FunctionName"]["Ref"]
        for one in permissions
        if "/authorizers/" not in str(one["SourceArn"])
    }
    assert allowed == {
        (method, re.sub(r"\{\w+\}", "*", path)): name for (method, path), name in ROUTES.items()
    }
    assert len(permissions) == len(allowed) + 1


def written_route(arn: Template) -> Route:
    text, _ = arn["Fn::Sub"]
    found = re.fullmatch(r".*/\$\{__Stage__\}/([A-Z]+)(/.*)", text)
    assert found
    return found[1], found[2]


def test_calls_are_throttled_and_logged() -> None:
    stage = resources("AWS::ApiGatewayV2::Stage", transformed()).popitem()[1]["Properties"]
    limits = [stage["DefaultRouteSettings"], *stage["RouteSettings"].values()]
    assert all(limit.keys() == {"ThrottlingRateLimit", "ThrottlingBurstLimit"} for limit in limits)
    assert set(stage["RouteSettings"]) <= {" ".join(route) for route in ROUTES}
    assert {"POST /jobs", "POST /jobs/claim"} <= set(stage["RouteSettings"])
    assert stage["AccessLogSettings"]["DestinationArn"] == {"Fn::GetAtt": ["ApiLogGroup", "Arn"]}


def test_a_flood_of_one_kind_leaves_the_others_their_rate() -> None:
    stage = resources("AWS::ApiGatewayV2::Stage", transformed()).popitem()[1]["Properties"]
    kinds = {"POST /jobs": "Enqueue", "POST /jobs/batch": "Enqueue"}
    kinds |= {"POST /jobs/claim": "Claim", "POST /jobs/batch/claim": "Claim"}
    limits = {route: f"{kind}Throttle" for route, kind in kinds.items()}
    for limit, prefix in [
        (stage["DefaultRouteSettings"], "Throttle"),
        *((stage["RouteSettings"][route], prefix) for route, prefix in limits.items()),
    ]:
        assert limit == {
            "ThrottlingRateLimit": {"Ref": f"{prefix}Rate"},
            "ThrottlingBurstLimit": {"Ref": f"{prefix}Burst"},
        }


def test_credentials_and_bodies_stay_out_of_the_access_log() -> None:
    line = template()["Resources"]["Api"]["Properties"]["AccessLogSettings"]["Format"]
    assert not re.search(
        r"authorization|header|body|querystring", line.replace("authorizer", ""), re.IGNORECASE
    )
