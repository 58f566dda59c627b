"""The document: one operation for each route."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from jobqueue.jobtype import JobTypes
from openapi.answers import ANSWERS
from openapi.examples import Example
from openapi.pages import PAGES
from openapi.problems import PARTICULAR, problem_schemas
from openapi.requests import JOB_ID, QUEUE, parameters, request_schemas, without_null
from openapi.responses import JSON, Responses
from openapi.routes import Route
from openapi.schemas import Schema, Undescribed, model_schemas, reference
from openapi.text import DESCRIPTION, SCHEME_NAMES, SCHEMES, TAGS, tag, who

_IN_PATH: dict[str, Schema] = {
    "id": {"description": "The job.", "schema": {"$ref": JOB_ID}},
    "queue": {"description": "The queue.", "schema": {"$ref": QUEUE}},
}
_REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')


def document(routes: Iterable[Route], job_types: JobTypes, examples: Iterable[Example]) -> Schema:
    """Return the document of an API with these routes and types of job.

    Raises
    ------
    Undescribed
        If anything is not told that the document must tell.
    """
    routes, examples = tuple(routes), tuple(examples)
    for route in routes:
        if route.function not in ANSWERS or route.function not in PARTICULAR:
            raise Undescribed(
                f"{route.function}: openapi/answers.py must tell its answers, problems.py its refusals"
            )
    schemas = _merged(
        request_schemas(routes, job_types),
        model_schemas(one.body for route in routes for one in ANSWERS[route.function] if one.body),
        problem_schemas(),
    )
    responses = Responses(examples)
    paths: dict[str, Schema] = {}
    for route in routes:
        operation = _operation(route, schemas, [one for one in examples if one.function == route.function])
        paths.setdefault(route.path, {})[route.method] = {**operation, "responses": responses.of_route(route)}
    for path, page in PAGES.items():
        paths[path] = {"get": {**page, "responses": {**page["responses"], **responses.of_page()}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "jobqueue",
            "version": "1",
            "summary": "Enqueue, claim and watch background jobs.",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": ".", "description": "Where this document is."}],
        "tags": TAGS,
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": _reachable(schemas, [paths, responses.shared]),
            "responses": dict(sorted(responses.shared.items())),
            "examples": responses.problem_examples(),
            "securitySchemes": SCHEMES,
        },
    }


def _operation(route: Route, schemas: dict[str, Schema], examples: list[Example]) -> Schema:
    in_path = [{"name": name, "in": "path", "required": True, **_IN_PATH[name]} for name in route.in_path]
    in_query = parameters(schemas[route.query.__name__]) if route.query else []
    body = _model_schema(route.body.__name__, schemas) if route.body else {}
    in_headers = [
        _header(name, member, body)
        for name, member in route.app.member_headers.items()
        if member in body["properties"]  # or the header is one that the route refuses
    ]
    operation: Schema = {
        "operationId": route.function,
        "tags": [tag(route)],
        "summary": route.summary,
        "description": f"{route.description}\n\n{who(route)}",
        "security": [{name: [role.value for role in route.app.roles]} for name in SCHEME_NAMES],
        "parameters": [_with_examples(one, examples) for one in (*in_path, *in_query, *in_headers)],
    }
    if route.body is not None:
        operation["requestBody"] = {
            "description": f"At most {route.app.max_body_bytes:,} bytes.",
            "required": bool(body.get("required")),
            "content": {
                JSON: {
                    "schema": reference(route.body),
                    "examples": {
                        one.name: {"summary": one.summary, "value": one.body or {}}
                        for one in examples
                        if one.status < 300
                    },
                }
            },
        }
    return operation


def _header(name: str, member: str, body: Schema) -> Schema:
    field = body["properties"][member]
    return {
        "name": name.title(),
        "in": "header",
        "required": False,
        "description": f"The same as `{member}` in the body. If both are sent, they must be equal.",
        "schema": without_null({key: value for key, value in field.items() if key != "description"}),
    }


def _with_examples(parameter: Schema, examples: list[Example]) -> Schema:
    where = {"path": "path", "query": "query", "header": "headers"}[parameter["in"]]
    sent = {
        one.name: {"value": getattr(one, where)[parameter["name"]]}
        for one in examples
        if one.status < 300 and parameter["name"] in getattr(one, where)
    }
    return {**parameter, "examples": sent} if sent else parameter


def _model_schema(name: str, schemas: dict[str, Schema]) -> Schema:
    """Return the schema of a body; where it depends on the type of job, that of any type."""
    schema = schemas[name]
    for choice in schema.get("oneOf", []):
        return schemas[choice["$ref"].rpartition("/")[2]]
    return schema


def _merged(*parts: dict[str, Schema]) -> dict[str, Schema]:
    merged: dict[str, Schema] = {}
    for part in parts:
        for name, schema in part.items():
            if merged.setdefault(name, schema) != schema:
                raise Undescribed(f"two schemas are called {name}")
    return merged


def _reachable(schemas: dict[str, Schema], roots: Any) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    waiting = _REFERENCE.findall(_text(roots))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = schemas[name]
            waiting += _REFERENCE.findall(_text(schemas[name]))
    return dict(sorted(found.items()))


def _text(value: Any) -> str:
    return json.dumps(value)
