"""An HTTP API event (payload format 2.0), made plain before anything looks into it.

The gateway, `sam local` and emulators differ in the case of header names, in what is percent-decoded and
in whether a body is base64. Here that ends.
"""

from __future__ import annotations

import base64
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from jobqueue.api import strict_json
from jobqueue.api.errors import BodyTooLarge, InvalidJson, UnsupportedMediaType
from jobqueue.errors import FieldError
from jobqueue.job import JsonObject, is_job_id

MAX_BODY_BYTES = 128 * 1024
MAX_BATCH_BODY_BYTES = 3 * 1024 * 1024

_JSON_TYPE = re.compile(r"application/json|[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+\+json")
_PLACEHOLDER = re.compile(r"\{(\w+)\+?\}")
_TRACE_ROOT = re.compile(r"(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})(?:;|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request.

    Attributes
    ----------
    id : str
        The API's id of it; the access log has the same.
    method : str
        Upper case.
    path : str
        As the client sent it, as far as the gateway tells.
    routable_path : str
        Without the stage, with every parameter percent-encoded, so that it cannot look like more than
        one segment.
    headers : mapping
        By lower-case name.
    query : mapping
        The parameters that were sent once.
    repeated : tuple of FieldError
        Those that were sent more than once, of which none is better than the others.
    job_id : str or None
        The id in the path, if it is one.
    trace_id : str or None
        The trace that the request belongs to.
    """

    id: str
    method: str
    path: str
    routable_path: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    repeated: tuple[FieldError, ...]
    job_id: str | None
    trace_id: str | None


def read_request(event: Mapping[str, Any]) -> Request:
    """Read everything but the body. Never fails: what is not there is empty."""
    context = _mapping(event, "requestContext")
    headers = {str(name).lower(): str(value) for name, value in _mapping(event, "headers").items()}
    query, repeated = _query(event)
    job_id = unquote(str(_mapping(event, "pathParameters").get("id", "")))
    return Request(
        id=str(context.get("requestId", "")),
        method=str(_mapping(context, "http").get("method", "")).upper(),
        path=str(event.get("rawPath", "")),
        routable_path=_routable_path(event, str(context.get("stage", ""))),
        headers=headers,
        query=query,
        repeated=repeated,
        job_id=job_id if is_job_id(job_id) else None,
        trace_id=_trace_id(headers),
    )


def read_body(event: Mapping[str, Any], request: Request, max_bytes: int) -> JsonObject | None:
    """Read the body as a JSON object; None if there is none.

    Raises
    ------
    BodyTooLarge
        If it has more than `max_bytes`.
    UnsupportedMediaType
        If it does not call itself JSON.
    InvalidJson, InvalidRequest
        If it is not what `strict_json` takes, or not UTF-8, or not base64 where it should be.
    """
    body = event.get("body")
    if not body:
        return None
    if not isinstance(body, str):
        raise InvalidJson
    data = _decoded(body) if event.get("isBase64Encoded") else _encoded(body)
    if len(data) > max_bytes:
        raise BodyTooLarge
    content_type = request.headers.get("content-type", "")
    if content_type and not _JSON_TYPE.fullmatch(content_type.partition(";")[0].strip().lower()):
        raise UnsupportedMediaType
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidJson from None
    return strict_json.loads(text)


def plain_event(event: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """Return the event as the resolver is to see it; it is given the body as it was read here."""
    context = _mapping(event, "requestContext")
    http = {**_mapping(context, "http"), "method": request.method, "path": request.routable_path}
    return {
        **event,
        "rawPath": request.routable_path,
        "rawQueryString": "",
        "queryStringParameters": dict(request.query),
        "headers": {**request.headers, "content-type": "application/json"},
        "cookies": [],
        "body": "{}",
        "isBase64Encoded": False,
        "requestContext": {**context, "stage": "$default", "http": http},
    }


def unquoted(header: str) -> str:
    """Return the value of a header that may be written as a quoted string (RFC 8941)."""
    value = header.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r'\\(["\\])', r"\1", value[1:-1])
    return value


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        raise InvalidJson from None


def _encoded(body: str) -> bytes:
    try:
        return body.encode()
    except UnicodeEncodeError:
        raise InvalidJson from None


def _query(event: Mapping[str, Any]) -> tuple[dict[str, str], tuple[FieldError, ...]]:
    raw = event.get("rawQueryString")
    if not isinstance(raw, str) or not raw:
        joined = _mapping(event, "queryStringParameters")
        return {str(name): str(value) for name, value in joined.items()}, ()
    pairs = parse_qsl(raw, keep_blank_values=True)
    times = Counter(name for name, _ in pairs)
    repeated = [name for name in times if times[name] > 1]
    errors = [
        FieldError(f"query.{name[:100]}", "repeated", f"query.{name[:100]}: may be sent once")
        for name in repeated
    ]
    return {name: value for name, value in pairs if times[name] == 1}, tuple(errors)


def _routable_path(event: Mapping[str, Any], stage: str) -> str:
    parameters = _mapping(event, "pathParameters")
    template = str(event.get("routeKey", "")).partition(" ")[2]
    if template.startswith("/") and all(name in parameters for name in _PLACEHOLDER.findall(template)):
        return _PLACEHOLDER.sub(lambda match: _segment(str(parameters[match[1]])), template)
    path = str(event.get("rawPath", ""))
    if stage != "$default":
        path = path.removeprefix(f"/{stage}")
    return "/".join(_segment(segment) for segment in path.split("/"))


def _segment(text: str) -> str:
    return quote(unquote(text), safe="", errors="replace")


def _trace_id(headers: Mapping[str, str]) -> str | None:
    for text in (os.environ.get("_X_AMZN_TRACE_ID", ""), headers.get("x-amzn-trace-id", "")):
        if found := _TRACE_ROOT.search(text):
            return found[1]
    return None


def _mapping(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}
