"""The refusals of the API as schemas, and which of them each route can answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from jobqueue import errors
from jobqueue.api import errors as api_errors
from jobqueue.api.problems import INTERNAL, KINDS, MOST_FIELD_ERRORS, Kind
from jobqueue.principal import Role
from openapi.routes import Route

Schema: TypeAlias = dict[str, Any]
Refusal: TypeAlias = type[errors.JobQueueError]

FIELD_ERROR_CODES = {
    "conflict": "it contradicts another field, or a header",
    "control_character": "it has a control character",
    "invalid": "it breaks a rule of its type of job, which the message tells",
    "invalid_unicode": "it has half of a surrogate pair",
    "malformed": "it does not have the form that is required",
    "missing": "it is required",
    "no_time_zone": "it is a time without an offset from UTC",
    "not_json": "it is not JSON",
    "out_of_range": "it is too small or too large",
    "repeated": "it was sent more than once",
    "too_deep": "it is nested too deep",
    "too_long": "it is too long, or has too many items",
    "too_precise": "it has a number with more digits than double precision keeps",
    "too_short": "it is too short, or has too few items",
    "unknown_field": "there is no such field",
    "unknown_queue": "there is no such queue",
    "unknown_type": "there is no such type of job",
    "unknown_value": "it is none of the values that are possible",
    "wrong_length": "it is empty or too long",
    "wrong_type": "it has another JSON type",
}

PARTICULAR: Mapping[str, tuple[Refusal, ...]] = {
    "enqueue_job": (errors.IdempotencyKeyReused, errors.PriorityNotAllowed, errors.QueueNotAllowed),
    "list_jobs": (errors.InvalidCursor, errors.QueueNotAllowed),
    "get_job": (errors.JobNotFound,),
    "claim_job": (errors.QueueNotAllowed,),
    "complete_job": (errors.JobNotHeld, errors.ReplayMismatch),
    "fail_job": (errors.JobNotHeld, errors.ReplayMismatch),
    "heartbeat_job": (errors.JobNotHeld,),
    "release_job": (errors.JobNotHeld, errors.ReplayMismatch),
    "cancel_job": (errors.JobNotFound, errors.JobNotCancellable),
    "retry_job": (errors.JobNotFound, errors.JobNotRetryable),
    "enqueue_jobs": (),
    "claim_jobs": (errors.QueueNotAllowed,),
    "complete_jobs": (),
    "list_queues": (),
    "pause_queue": (errors.QueueNotFound,),
    "resume_queue": (errors.QueueNotFound,),
    "retry_jobs": (errors.QueueNotFound,),
}
"""What only some routes refuse, by function."""

_WITH_BODY = (api_errors.InvalidJson, api_errors.BodyTooLarge, api_errors.UnsupportedMediaType)
_ALWAYS = (
    errors.Unauthenticated,
    errors.TooManyRequests,
    errors.InvalidRequest,
    errors.Unavailable,
    errors.CorruptItem,
)
_NEVER = {api_errors.RouteNotFound, api_errors.MethodNotAllowed}
"""The gateway calls no function for a route or a method that it does not know."""


def refusals(route: Route) -> dict[int, tuple[Refusal, ...]]:
    """Return what a route can refuse, by status."""
    found = [*_ALWAYS, *PARTICULAR[route.function]]
    if route.body is not None:
        found += _WITH_BODY
    if set(route.app.roles) != set(Role):
        found.append(errors.RoleNotAllowed)
    by_status: dict[int, tuple[Refusal, ...]] = {}
    for error in sorted(found, key=lambda one: KINDS[one].slug):
        status = int(KINDS[error].status)
        by_status[status] = (*by_status.get(status, ()), error)
    return by_status


def one_of(*refused: Refusal) -> Schema:
    """Return the schema of a problem that is one of some."""
    references = {f"urn:jobqueue:problem:{KINDS[error].slug}": reference(error) for error in refused}
    if len(references) == 1:
        return {"$ref": references.popitem()[1]}
    return {
        "oneOf": [{"$ref": target} for target in references.values()],
        "discriminator": {"propertyName": "type", "mapping": references},
    }


def reference(error: Refusal) -> str:
    """Return where in the document the schema of a refusal is."""
    return f"#/components/schemas/{component(KINDS[error])}"


def component(kind: Kind) -> str:
    """Return what the schema of a kind of refusal is called."""
    return "".join(word.capitalize() for word in kind.slug.split("-")) + "Problem"


def problem_schemas() -> dict[str, Schema]:
    """Return the schemas of all refusals that the API can answer, and of what they refer to."""
    known = {component(kind): _problem(error, kind) for error, kind in KINDS.items() if error not in _NEVER}
    return {
        **known,
        "FieldError": _FIELD_ERROR,
        "GatewayMessage": {
            "type": "object",
            "description": "What the gateway itself answers where no function of the API was asked.",
            "required": ["message"],
            "properties": {"message": {"type": ["string", "null"], "description": "What is wrong."}},
        },
    }


_FIELD_ERROR: Schema = {
    "type": "object",
    "description": "One field that was refused.",
    "additionalProperties": False,
    "required": ["field", "code", "message"],
    "properties": {
        "field": {
            "type": "string",
            "description": "Its place in the body, such as `payload.to`, or in the query, as `query.limit`.",
        },
        "code": {
            "enum": list(FIELD_ERROR_CODES),
            "description": "Why, for a machine:\n\n"
            + "\n".join(f"- `{code}`: {meaning}" for code, meaning in FIELD_ERROR_CODES.items()),
        },
        "message": {
            "type": "string",
            "description": "Why, for a person. It never quotes the value that was sent.",
        },
    },
}


def _problem(error: type[Exception], kind: Kind) -> Schema:
    properties: Schema = {
        "type": {
            "const": f"urn:jobqueue:problem:{kind.slug}",
            "description": "What is wrong, for a machine.",
        },
        "title": {"const": kind.title, "description": "What is wrong, in short."},
        "status": {"const": int(kind.status), "description": "The HTTP status."},
        "request_id": {
            "type": "string",
            "description": "What the request is called in the logs, which is what an operator asks for.",
        },
    }
    if kind is not INTERNAL:
        properties["detail"] = {"type": "string", "description": "What is wrong, for a person."}
        properties["instance"] = {"type": "string", "description": "The path of the request."}
    if error is errors.InvalidRequest:
        properties["errors"] = {
            "type": "array",
            "description": "The fields that were refused, those of the payload included.",
            "minItems": 1,
            "maxItems": MOST_FIELD_ERRORS,
            "items": {"$ref": "#/components/schemas/FieldError"},
        }
    description = "Something went wrong that is not the caller's to mend."
    return {
        "type": "object",
        "description": description if kind is INTERNAL else str(error()),
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
