"""What is answered when something is wrong: problem details as of RFC 9457.

One table maps the class of an error to its status, its name and its title.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from jobqueue import errors, telemetry
from jobqueue.api import errors as api_errors
from jobqueue.api import strict_json
from jobqueue.errors import FieldError, InvalidRequest

MEDIA_TYPE = "application/problem+json"
MOST_FIELD_ERRORS = 100
"""That one answer tells, so that a body of nothing but mistakes cannot make an answer of megabytes."""

RETRY_AFTER_SECONDS = 2
"""After a 503. DynamoDB splits a hot partition or refills its burst within seconds."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How one class of errors is answered."""

    status: HTTPStatus
    slug: str
    title: str
    headers: Mapping[str, str] = field(default_factory=dict)


INTERNAL = Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal-error", "Internal error")

KINDS: Mapping[type[Exception], Kind] = {
    api_errors.InvalidJson: Kind(HTTPStatus.BAD_REQUEST, "invalid-json", "Invalid JSON"),
    errors.InvalidCursor: Kind(HTTPStatus.BAD_REQUEST, "invalid-cursor", "Invalid cursor"),
    errors.Unauthenticated: Kind(HTTPStatus.FORBIDDEN, "unauthenticated", "No usable identity"),
    errors.RoleNotAllowed: Kind(HTTPStatus.FORBIDDEN, "role-not-allowed", "Role not allowed"),
    errors.QueueNotAllowed: Kind(HTTPStatus.FORBIDDEN, "queue-not-allowed", "Queue not allowed"),
    errors.PriorityNotAllowed: Kind(HTTPStatus.FORBIDDEN, "priority-not-allowed", "Priority not allowed"),
    errors.JobNotFound: Kind(HTTPStatus.NOT_FOUND, "job-not-found", "Job not found"),
    errors.QueueNotFound: Kind(HTTPStatus.NOT_FOUND, "queue-not-found", "Queue not found"),
    api_errors.RouteNotFound: Kind(HTTPStatus.NOT_FOUND, "route-not-found", "Route not found"),
    api_errors.MethodNotAllowed: Kind(
        HTTPStatus.METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed"
    ),
    errors.JobNotHeld: Kind(HTTPStatus.CONFLICT, "job-not-held", "Job not held"),
    errors.ReplayMismatch: Kind(HTTPStatus.CONFLICT, "replay-mismatch", "Repeated with another body"),
    errors.JobNotCancellable: Kind(HTTPStatus.CONFLICT, "job-not-cancellable", "Job not cancellable"),
    errors.JobNotRetryable: Kind(HTTPStatus.CONFLICT, "job-not-retryable", "Job not retryable"),
    api_errors.BodyTooLarge: Kind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", "Body too large"),
    api_errors.UnsupportedMediaType: Kind(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "Unsupported media type"
    ),
    errors.InvalidRequest: Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", "Invalid request"),
    errors.IdempotencyKeyReused: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency-key-reused", "Idempotency key reused"
    ),
    errors.TooManyRequests: Kind(HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", "Too many requests"),
    errors.Unavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "Temporarily unavailable",
        {"Retry-After": str(RETRY_AFTER_SECONDS)},
    ),
    # ours to mend, nothing that the caller can do
    errors.CorruptItem: INTERNAL,
    errors.InvalidSettings: INTERNAL,
    errors.InvalidJobTypes: INTERNAL,
}


def kind_of(error: Exception) -> Kind:
    """Return how `error` is answered. What the table does not know is ours to mend: 500."""
    for cls in type(error).__mro__:
        if cls in KINDS:
            return KINDS[cls]
    return INTERNAL


def problem(error: Exception, *, instance: str, request_id: str) -> dict[str, Any]:
    """Describe `error` as problem details.

    Parameters
    ----------
    error : Exception
        What went wrong. Of an unexpected one, nothing is told.
    instance : str
        The request's path.
    request_id : str
        The API's id of the request, which the log has too.
    """
    kind = kind_of(error)
    told: dict[str, Any] = {
        "type": f"urn:jobqueue:problem:{kind.slug}",
        "title": kind.title,
        "status": int(kind.status),
        "request_id": request_id,
    }
    if kind is INTERNAL:
        return told
    told |= {"detail": str(error), "instance": instance}
    if isinstance(error, InvalidRequest):
        told["errors"] = [_field(one) for one in error.errors[:MOST_FIELD_ERRORS]]
    return told


def answer(error: Exception, *, instance: str, request_id: str) -> Response[Any]:
    """Make the answer to a request that went wrong."""
    kind = kind_of(error)
    headers = dict(kind.headers)
    if isinstance(error, api_errors.MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    if isinstance(error, errors.TooManyRequests):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return Response(
        status_code=int(kind.status),
        content_type=MEDIA_TYPE,
        headers=headers,
        body=strict_json.dumps(problem(error, instance=instance, request_id=request_id)),
    )


def log(action: str, error: Exception, *, job_id: str | None) -> None:
    """Log that `action` was refused, or that it broke."""
    kind = kind_of(error)
    if kind is INTERNAL:
        telemetry.crash(action, error)
    else:
        telemetry.decision(action, kind.slug, status=int(kind.status), job_id=job_id)


def _field(error: FieldError) -> dict[str, str]:
    return {"field": error.field, "code": error.code, "message": error.message}
