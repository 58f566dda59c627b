"""The gateway of the deployment without a network: requests as bytes in, answers as bytes out.

It does what API Gateway does between a client and the functions: it finds the route, asks the authorizer,
writes the event. As a WSGI application it serves any tool that speaks to one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from tests.support.events import http_event, joined_query
from tests.support.functions import declared
from tests.support.http import Answer, Stack

_TEXT = re.compile(r"text/|application/(json|javascript|xml)\b")
"""Bodies that are handed on as text; all others as base64."""


class Gateway:
    """Answers requests of a deployment.

    Parameters
    ----------
    stack : Stack
        The deployment.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def request(
        self, method: str, target: str, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None
    ) -> Answer:
        """Answer one request.

        Parameters
        ----------
        method : str
            Upper case.
        target : str
            Path and query as they are in the request's first line: percent-encoded.
        headers : iterable of (str, str)
            In any case, and in any number.
        body : bytes or None
            As it is sent.
        """
        path, _, query = target.partition("?")
        found = _route(method, path)
        if found is None:
            return Answer(404, {"content-type": "application/json"}, '{"message":"Not Found"}')
        function, parameters = found
        joined = _joined(headers)
        event = {
            **http_event(
                function,
                parameters.get("id"),
                queue=parameters.get("queue"),
                path=path,
                method=method,
                query=query,
            ),
            **_body(body, joined.get("content-type", "")),
            "headers": joined,
        }
        if query:
            event["queryStringParameters"] = joined_query(query)
        if not is_public(function):
            return self._stack.authorize(function, event)
        joined.pop("accept-encoding", None)  # pages are packed for those who take them so
        return self._stack.send(function, event)

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Sequence[bytes]:
        """Answer a request of WSGI."""
        headers = [
            (name.removeprefix("HTTP_").replace("_", "-"), str(value))
            for name, value in environ.items()
            if name.startswith("HTTP_") or (name in {"CONTENT_TYPE", "CONTENT_LENGTH"} and value)
        ]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        target = environ["REQUEST_URI"].partition("?")[0]
        if environ["QUERY_STRING"]:  # which werkzeug's client leaves out there
            target += f"?{environ['QUERY_STRING']}"
        answer = self.request(environ["REQUEST_METHOD"], target, headers, body or None)
        status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        start_response(status, list(answer.headers.items()))
        return [answer.text.encode()]


def is_public(function: str) -> bool:
    """Tell whether the route of a function asks for no credential."""
    (event,) = declared()[function]["Events"].values()
    return bool(event["Properties"].get("Auth", {}).get("Authorizer") == "NONE")


@cache
def _routes() -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Return method, segments and function of each route, those without parameters first."""
    found = [
        (event["Properties"]["Method"], tuple(event["Properties"]["Path"].split("/")), function)
        for function, properties in declared().items()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "HttpApi"
    ]
    return tuple(sorted(found, key=lambda route: sum("{" in segment for segment in route[1])))


def _route(method: str, path: str) -> tuple[str, dict[str, str]] | None:
    segments = path.split("/")
    for route_method, template, function in _routes():
        if (method, len(segments)) != (route_method, len(template)):
            continue
        pairs = list(zip(template, segments, strict=True))
        if all(sent if "{" in named else sent == named for named, sent in pairs):
            return function, {name.strip("{}"): unquote(sent) for name, sent in pairs if "{" in name}
    return None


def _joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        known = joined.get(name.lower())
        joined[name.lower()] = value if known is None else f"{known},{value}"
    return joined


def _body(body: bytes | None, content_type: str) -> dict[str, Any]:
    if body is None:
        return {}
    if _TEXT.match(content_type):
        try:
            return {"body": body.decode(), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
