"""openapi.json is what `make openapi` would write now, and it is whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from pydantic import BaseModel, create_model

from jobqueue.api.models import EnqueueJob
from jobqueue.api.problems import KINDS
from jobqueue.errors import JobNotFound
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.principal import Role
from jobtypes import JOB_TYPES
from openapi import problems
from openapi.__main__ import FILE, text
from openapi.answers import ANSWERS
from openapi.document import document
from openapi.examples import read_examples
from openapi.routes import routes
from openapi.schemas import Undescribed, model_schemas
from tests.support import contract
from tests.support.template import resources

DOCUMENT = contract.document()
ROUTED = {
    (event["Properties"]["Method"].lower(), event["Properties"]["Path"]): event["Properties"]
    for function in resources("AWS::Serverless::Function").values()
    for event in function["Properties"].get("Events", {}).values()
    if event["Type"] == "HttpApi"
}
OPERATIONS = {
    (method, path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


def test_the_committed_document_is_fresh() -> None:
    assert FILE.read_text("utf-8") == text(), "openapi.json is stale: run `make openapi`"


def test_every_route_of_the_deployment_is_described_and_no_other() -> None:
    assert OPERATIONS.keys() == ROUTED.keys()


@pytest.mark.parametrize("route", sorted(OPERATIONS))
def test_a_route_is_public_in_both_or_in_none(route: tuple[str, str]) -> None:
    is_public = ROUTED[route].get("Auth", {}).get("Authorizer") == "NONE"
    assert (OPERATIONS[route]["security"] == []) is is_public


def test_it_is_openapi_3_1() -> None:
    schemathesis.openapi.from_dict(DOCUMENT).validate()
    assert DOCUMENT["openapi"] == "3.1.0"


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        yield from value.get("mapping", {}).values() if "propertyName" in value else ()
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from references(one)


def test_what_is_referred_to_is_there_and_the_rest_is_not() -> None:
    referred = set(references(DOCUMENT))
    there = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses", "examples")
        for name in DOCUMENT["components"][kind]
    }
    assert referred == there


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_each_schema_is_json_schema_with_a_description(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    assert schema["description"]
    # whatever a stranger sends beside it is refused
    if schema.get("type") == "object" and name != "GatewayMessage":
        assert schema["additionalProperties"] is False
    for pattern in re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', json.dumps(schema)):
        re.compile(json.loads(f'"{pattern}"'))


@pytest.mark.parametrize("route", sorted(OPERATIONS))
def test_each_operation_is_told_whole(route: tuple[str, str]) -> None:
    operation = OPERATIONS[route]
    assert operation["summary"].endswith(".")
    assert operation["description"]
    assert operation["tags"][0] in {tag["name"] for tag in DOCUMENT["tags"]}
    for parameter in operation.get("parameters", []):
        assert parameter["description"]
    assert {"429", "500", "503"} <= operation["responses"].keys()
    if operation["security"]:
        assert {"401", "403"} <= operation["responses"].keys()
        schemes = {name for one in operation["security"] for name in one}
        assert schemes == DOCUMENT["components"]["securitySchemes"].keys()
        roles = [names for one in operation["security"] for names in one.values()]
        assert all(set(names) <= {role.value for role in Role} for names in roles)


@pytest.mark.parametrize("route", [one for one in OPERATIONS if OPERATIONS[one]["security"]])
def test_each_operation_has_an_example_of_what_is_sent_and_of_what_is_answered(
    route: tuple[str, str],
) -> None:
    operation = OPERATIONS[route]
    if "requestBody" in operation:
        assert operation["requestBody"]["content"]["application/json"]["examples"]
    assert operation["responses"]["200"]["content"]["application/json"]["examples"]


def test_each_refusal_has_an_example() -> None:
    described = set(DOCUMENT["components"]["examples"])
    assert described == {kind.slug for error, kind in KINDS.items() if error not in problems._NEVER}


def test_a_route_whose_answers_are_not_told_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ANSWERS, "get_job")
    with pytest.raises(Undescribed, match="get_job"):
        document(routes(), JOB_TYPES, read_examples())


def test_a_field_that_is_not_told_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EnqueueJob, "__doc__", "A job.")
    with pytest.raises(Undescribed, match=r"EnqueueJob\.type"):
        document(routes(), JOB_TYPES, read_examples())


def test_two_models_of_one_name_are_an_error() -> None:
    class Twin(BaseModel):
        """A payload."""

    other = create_model("Twin", __module__="elsewhere", number=(int, ...))
    with pytest.raises(Undescribed, match="Twin"):
        model_schemas([Twin, other])


def test_the_types_of_a_deployment_are_told() -> None:
    declared = JobTypes(
        queues=[Queue(name="bulk")],
        types=[JobType(name="send-mail.v2", payload="jobtypes.payloads:EmailPayload", queue="bulk")],
    )
    schemas = document(routes(), declared, ())["components"]["schemas"]
    assert schemas["JobType"]["enum"] == ["send-mail.v2"]
    assert schemas["QueueName"]["enum"] == ["bulk", "default"]
    assert schemas["EnqueueJob"]["oneOf"] == [{"$ref": "#/components/schemas/EnqueueSendMailV2Job"}]
    assert schemas["EnqueueSendMailV2Job"]["required"] == ["type", "payload"]


def test_types_whose_names_differ_in_signs_alone_are_told_apart_or_refused() -> None:
    types = [JobType(name=name, payload="jobtypes.payloads:EmailPayload") for name in ("a-b", "a.b")]
    with pytest.raises(Undescribed, match="signs"):
        document(routes(), JobTypes(types=types), ())


def test_a_deployment_without_types_has_a_document() -> None:
    described = document(routes(), JobTypes(types=[]), ())
    assert described["components"]["schemas"]["EnqueueJob"]["type"] == "object"


@pytest.mark.parametrize(
    ("value", "fits"),
    [("low", True), ("HIGH", True), ("Critical", True), ("urgent", False), ("lows", False), (3, False)],
)
def test_a_priority_may_be_written_in_any_case(value: Any, fits: bool) -> None:
    assert (contract.errors({"$ref": "#/components/schemas/AnyCasePriority"}, value) == []) is fits


def test_problems_say_what_their_errors_say() -> None:
    schema = DOCUMENT["components"]["schemas"]["JobNotFoundProblem"]
    assert schema["description"] == str(JobNotFound())
    assert schema["properties"]["type"] == {
        "const": "urn:jobqueue:problem:job-not-found",
        "description": "What is wrong, for a machine.",
    }
