"""Events as an HTTP API of API Gateway sends them, payload format 2.0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from tests.support.functions import declared

REQUEST_ID = "Umx5tgJcliAEPMg="


def route(function: str) -> tuple[str, str]:
    """Return the method and the path of a function, as template.yaml has them."""
    for event in declared()[function]["Events"].values():
        if event["Type"] == "HttpApi":
            return event["Properties"]["Method"], event["Properties"]["Path"]
    raise LookupError(function)


def http_event(
    function: str,
    job_id: str | None = None,
    *,
    queue: str | None = None,
    body: Any = None,
    query: Mapping[str, str] | str | None = None,
    headers: Mapping[str, str] | None = None,
    base64_encoded: bool = False,
    path: str | None = None,
    method: str | None = None,
    request_id: str = REQUEST_ID,
) -> dict[str, Any]:
    """Make the event of a request to the route of `function`, without a caller.

    Parameters
    ----------
    function : str
        The function's folder.
    job_id : str or None
        The id in the path, as it is before it is percent-encoded.
    queue : str or None
        The queue in the path, the same way.
    body : bytes, str, JSON value or None
        Text and bytes are sent as they are.
    query : mapping, str or None
        A mapping, or the raw query string.
    headers : mapping or None
        More headers, or others.
    base64_encoded : bool
        What the event says of the body; the body is not changed.
    path, method : str or None
        Instead of those of the route.
    request_id : str
        The gateway's id of the request.
    """
    route_method, template = route(function)
    raw_query = query if isinstance(query, str) else urlencode(query or {})
    used_method = method or route_method
    named = {"id": job_id, "queue": queue}
    parameters = {name: value for name, value in named.items() if value is not None}
    used_path = path or template
    if path is None:
        for name in named:
            used_path = used_path.replace(f"{{{name}}}", quote(parameters.get(name, ""), safe=""))
    return {
        "version": "2.0",
        "routeKey": f"{route_method} {template}",
        "rawPath": used_path,
        "rawQueryString": raw_query,
        "headers": {
            "accept": "*/*",
            "content-type": "application/json",
            "host": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "user-agent": "curl/8.7.1",
            "x-amzn-trace-id": "Root=1-692bb31a-0c6f8a3e5d7b4f1a2c9e8d70",
            **(headers or {}),
        },
        **({"queryStringParameters": joined_query(raw_query)} if raw_query else {}),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "domainName": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "http": {
                "method": used_method,
                "path": used_path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "curl/8.7.1",
            },
            "requestId": request_id,
            "routeKey": f"{route_method} {template}",
            "stage": "$default",
            "time": "30/Nov/2026:02:26:02 +0000",
            "timeEpoch": 1796005562123,
        },
        **({"pathParameters": parameters} if parameters else {}),
        **({"body": _body(body)} if body is not None else {}),
        "isBase64Encoded": base64_encoded,
    }


def joined_query(raw_query: str) -> dict[str, str]:
    """Return a query as the gateway writes it: repeated parameters joined by commas."""
    return {name: ",".join(values) for name, values in parse_qs(raw_query, keep_blank_values=True).items()}


def authorized(event: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return `event` as the gateway passes it on with the authorizer's context."""
    request_context = {**event["requestContext"], "authorizer": {"lambda": dict(context)}}
    return {**event, "requestContext": request_context}


def authorizer_event(event: dict[str, Any]) -> dict[str, Any]:
    """Return what the gateway asks the authorizer about `event`."""
    kept = {name: value for name, value in event.items() if name not in {"body", "isBase64Encoded"}}
    credentials = [value for name, value in event["headers"].items() if name.lower() == "authorization"]
    return {**kept, "type": "REQUEST", "identitySource": credentials}


def _body(body: Any) -> str:
    if isinstance(body, bytes):
        return body.decode()
    return body if isinstance(body, str) else json.dumps(body)
