"""What each route takes, as schemas: the models that validate, with the names that are declared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from jobqueue.api import held, models
from jobqueue.job import JobPriority
from jobqueue.jobtype import JobType, JobTypes
from openapi.jobs import JobId
from openapi.routes import Route
from openapi.schemas import REFERENCE, Schema, Undescribed, model_schemas, reference

JOB_TYPE = REFERENCE.format(model="JobType")
QUEUE = REFERENCE.format(model="QueueName")
JOB_ID = REFERENCE.format(model=JobId.__name__)
_ITEMS: dict[type[BaseModel], type[BaseModel]] = {
    models.EnqueueJobs: models.EnqueueJob,
    held.CompleteJobs: held.CompleteOneOfJobs,
}
"""Batches read each of their items on its own, so their models do not tell what an item is."""


def request_schemas(routes: Iterable[Route], job_types: JobTypes) -> dict[str, Schema]:
    """Return the schemas of all bodies and queries, and of the payloads, by name."""
    bodies = [model for route in routes for model in (route.body, route.query) if model is not None]
    payloads = [job_type.payload_model for job_type in job_types.types]
    schemas = model_schemas([*bodies, *_ITEMS.values(), *payloads])
    for model in (*bodies, *_ITEMS.values()):
        _name_what_is_declared(schemas[model.__name__])
    for batch, item in _ITEMS.items():
        schemas[batch.__name__]["properties"]["jobs"]["items"] = reference(item)
    _refer(schemas[held.CompleteOneOfJobs.__name__]["properties"]["id"], JOB_ID)
    enqueue = models.EnqueueJob.__name__
    by_type = {_variant(one): _of_type(schemas[enqueue], one, schemas) for one in job_types.types}
    if len(by_type) != len(job_types.types) or by_type.keys() & schemas.keys():
        raise Undescribed("two types of job, or a type and a model, have names that differ in signs alone")
    return {
        **schemas,
        **by_type,
        enqueue: _any_type(schemas[enqueue], job_types),
        "JobType": {
            "description": "A type of job that this deployment declares.",
            "enum": [one.name for one in job_types.types],
        },
        "QueueName": {
            "description": "A queue that this deployment declares.",
            "enum": [one.name for one in job_types.queues],
        },
        "AnyCasePriority": _any_case_priority(),
    }


def parameters(query: Schema) -> list[Schema]:
    """Return the parameters of a query, whose model's schema is `query`."""
    return [
        {
            "name": name,
            "in": "query",
            "description": schema["description"],
            "required": name in query.get("required", []),
            "schema": without_null({key: value for key, value in schema.items() if key != "description"}),
        }
        for name, schema in query["properties"].items()
    ]


def without_null(schema: Schema) -> Schema:
    """Return a field's schema for where null cannot be sent: in queries and headers."""
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    default = {} if schema.get("default") is None else {"default": schema["default"]}
    (one,) = [choice for choice in schema.get("anyOf", [{}]) if choice != {"type": "null"}]
    return {**rest, **one, **default}


def _name_what_is_declared(schema: Schema) -> None:
    properties = schema["properties"]
    for name, target in (("queue", QUEUE), ("type", JOB_TYPE)):
        if name in properties:
            _refer(properties[name], target)
    if "queues" in properties:
        (names,) = [choice for choice in properties["queues"]["anyOf"] if choice.get("type") == "array"]
        names["items"] = {"$ref": QUEUE}
    if "priority" in properties:
        properties["priority"]["$ref"] = REFERENCE.format(model="AnyCasePriority")


def _refer(field: Schema, target: str) -> None:
    """Let the text of a field be one of the names at `target`; it may be null as before."""
    for schema in (field, *field.get("anyOf", [])):
        if schema.get("type") == "string":
            del schema["type"]
            schema["$ref"] = target


def _any_case_priority() -> Schema:
    def any_case(word: str) -> str:
        return "".join(f"[{letter.upper()}{letter}]" for letter in word)

    pattern = "|".join(any_case(priority.value) for priority in JobPriority)
    return {
        "description": "How urgent a job is, in upper or lower case.",
        "anyOf": [
            {"$ref": REFERENCE.format(model=JobPriority.__name__)},
            {"type": "string", "pattern": f"^({pattern})$"},
        ],
    }


def _variant(job_type: JobType) -> str:
    words = job_type.name.replace("-", "_").replace(".", "_").split("_")
    return "Enqueue" + "".join(word.capitalize() for word in words) + "Job"


def _of_type(enqueue: Schema, job_type: JobType, schemas: dict[str, Schema]) -> Schema:
    """Return what is asked for with a job of one type, whose payload has a model of its own."""
    model = job_type.payload_model.__name__
    properties: dict[str, Any] = {**enqueue["properties"], "type": {"const": job_type.name}}
    properties["payload"] = {
        **reference(job_type.payload_model),
        "description": enqueue["properties"]["payload"]["description"],
    }
    properties["max_retries"] = {
        **properties["max_retries"],
        "description": f"{properties['max_retries']['description']} Here {job_type.policy.max_retries}.",
    }
    required = ["type", "payload"] if schemas[model].get("required") else ["type"]
    return {
        **enqueue,
        "description": schemas[model]["description"],
        "properties": properties,
        "required": required,
    }


def _any_type(enqueue: Schema, job_types: JobTypes) -> Schema:
    if not job_types.types:
        return enqueue
    mapping = {one.name: REFERENCE.format(model=_variant(one)) for one in job_types.types}
    return {
        "description": enqueue["description"],
        "oneOf": [{"$ref": target} for target in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
