"""Holds what is answered against the description of the API, in every test that calls a function.

An answer that the document does not describe, with its status, its headers and its body, is a mistake of the
one or the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol, TypeAlias

import jsonschema_rs

from tests.support.template import ROOT

Document: TypeAlias = dict[str, Any]
FILE = ROOT / "functions" / "show_openapi" / "openapi.json"

_NO_ROUTE = {"route-not-found", "method-not-allowed"}
"""What a function answers if the gateway gives it a request to another route, which it never does."""


class Answered(Protocol):
    """What was answered."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def text(self) -> str: ...

    @property
    def problem(self) -> str: ...


@cache
def document() -> Document:
    """Return the description of the API, as it is served."""
    read: Document = json.loads(FILE.read_text("utf-8"))
    return read


@cache
def operations() -> dict[str, Document]:
    """Return the operations of the document, by the function that answers them."""
    return {
        operation["operationId"]: operation
        for methods in document()["paths"].values()
        for operation in methods.values()
    }


def check_answer(function: str, answer: Answered) -> None:
    """Fail unless the document describes `answer` for the route of `function`."""
    if answer.problem in _NO_ROUTE:
        return
    where = f"{function} answered {answer.status}"
    responses = operations()[function]["responses"]
    assert str(answer.status) in responses, f"{where}, which is not described: {answer.text}"
    response = _resolved(responses[str(answer.status)])
    for name, header in response.get("headers", {}).items():
        value = answer.headers.get(name.lower())
        assert value is not None or not header.get("required"), f"{where} without {name}"
        if value is not None:
            _check(f"{where}: {name}", header["schema"], _as_schema_has_it(value, header["schema"]))
    if "content" not in response:
        assert answer.text == "", f"{where} with a body: {answer.text}"
        return
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    assert media_type in response["content"], f"{where} as {media_type!r}, which is not described"
    if media_type.endswith("json"):
        _check(where, response["content"][media_type]["schema"], json.loads(answer.text))


def errors(schema: Document, value: Any) -> list[str]:
    """Return what is wrong with a value, by a schema of the document."""
    return [
        f"{error.instance_path}: {error.message}"
        for error in _validator(json.dumps(schema)).iter_errors(value)
    ]


def _check(where: str, schema: Document, value: Any) -> None:
    wrong = errors(schema, value)
    assert not wrong, f"{where}, which does not fit its description: {wrong}"


def _resolved(response: Document) -> Document:
    if "$ref" not in response:
        return response
    found: Document = document()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found


def _as_schema_has_it(value: str, schema: Document) -> Any:
    return int(value) if schema["type"] == "integer" else value


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    # references are looked up in the schema itself
    whole = {**json.loads(schema), "components": {"schemas": document()["components"]["schemas"]}}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
