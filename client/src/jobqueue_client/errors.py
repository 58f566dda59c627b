"""Everything that a call can end in, other than its answer: one class for each thing.

Catch `Unavailable` for what may pass by itself, and the class of the refusal for the rest. The docstring
of a class is its default message. No message ever holds the API key or a request's body.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that was refused.

    Attributes
    ----------
    field : str
        Dotted path from the request's body (``payload.to``), or from its query (``query.limit``).
    code : str
        A stable, machine-readable reason.
    message : str
        One sentence for a person.
    """

    field: str
    code: str
    message: str

    def __str__(self) -> str:
        # many messages begin with the field already
        if self.message.startswith((f"{self.field} ", f"{self.field}: ")):
            return self.message
        return f"{self.field}: {self.message}"


class ClientError(Exception):
    """The job queue did not do what was asked.

    Attributes
    ----------
    status : int or None
        The HTTP status, or None when there was no answer.
    problem : str or None
        The slug of the API's problem type, such as ``job-not-held``; None for the gateway's own answers.
    errors : tuple of FieldError
        The refused fields, when the API named any.
    request_id : str or None
        What to look for in the API's logs.
    retry_after : float or None
        Seconds after which the API asks to be called again.
    may_have_landed : bool
        Whether the call, or an earlier attempt of it, may have been carried out all the same.
    """

    slug: ClassVar[str | None] = None
    """The problem type that this class stands for."""

    def __init__(
        self,
        message: str | None = None,
        *,
        status: int | None = None,
        problem: str | None = None,
        errors: tuple[FieldError, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
        may_have_landed: bool = False,
    ) -> None:
        text = message or (inspect.getdoc(type(self)) or type(self).__name__).partition("\n")[0]
        if errors:
            text = f"{text} ({'; '.join(map(str, errors))})"
        super().__init__(text)
        self.status = status
        self.problem = problem
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after
        self.may_have_landed = may_have_landed

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} [request {self.request_id}]" if self.request_id else text


class Unavailable(ClientError):
    """The API cannot be reached or is too busy. The call may be repeated."""

    slug = "unavailable"


class NoAnswer(Unavailable):
    """No complete answer arrived."""


class TooManyRequests(Unavailable):
    """The API is called more often than it allows."""

    slug = "too-many-requests"


class ServerError(Unavailable):
    """The API failed."""

    slug = "internal-error"


class UnexpectedAnswer(ClientError):
    """The answer is not one of the job queue's API: the URL may be wrong."""


class BadRequest(ClientError):
    """The API could not read the request."""


class InvalidJson(BadRequest):
    """The request's body is not acceptable JSON."""

    slug = "invalid-json"


class InvalidCursor(BadRequest):
    """The cursor was not made for this caller and this filter."""

    slug = "invalid-cursor"


class Unauthorized(ClientError):
    """The request carried no credential that the API knows."""

    slug = "unauthenticated"


class Forbidden(ClientError):
    """The credential does not allow this."""


class RoleNotAllowed(Forbidden):
    """The caller's role does not allow this operation."""

    slug = "role-not-allowed"


class QueueNotAllowed(Forbidden):
    """The caller has no grant for the queue."""

    slug = "queue-not-allowed"


class PriorityNotAllowed(Forbidden):
    """The priority is above the highest one that the caller may use."""

    slug = "priority-not-allowed"


class NotFound(ClientError):
    """There is no such thing, or the caller may not see it."""


class JobNotFound(NotFound):
    """There is no such job, or the caller may not see it."""

    slug = "job-not-found"


class QueueNotFound(NotFound):
    """There is no such queue, or the caller has no grant for it."""

    slug = "queue-not-found"


class Conflict(ClientError):
    """The job is not in a state that allows this."""


class JobNotHeld(Conflict):
    """The job is not running under the caller's lease."""

    slug = "job-not-held"


class ReplayMismatch(Conflict):
    """The same call was already made with a different body."""

    slug = "replay-mismatch"


class JobNotCancellable(Conflict):
    """The job has already completed or failed."""

    slug = "job-not-cancellable"


class JobNotRetryable(Conflict):
    """Only a failed or cancelled job can be retried."""

    slug = "job-not-retryable"


class TooLarge(ClientError):
    """The request's body is larger than the API takes."""

    slug = "body-too-large"


class InvalidRequest(ClientError):
    """The request has fields that are not acceptable."""

    slug = "invalid-request"


class IdempotencyKeyReused(ClientError):
    """The idempotency key was already used for a different request."""

    slug = "idempotency-key-reused"


class WaitTimeout(ClientError, TimeoutError):
    """The job did not finish in time."""


_BY_STATUS: dict[int, type[ClientError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    415: BadRequest,
    422: InvalidRequest,
    429: TooManyRequests,
    503: Unavailable,
}


def _all_classes(root: type[ClientError]) -> Iterator[type[ClientError]]:
    yield root
    for child in root.__subclasses__():
        yield from _all_classes(child)


_BY_SLUG = {cls.slug: cls for cls in _all_classes(ClientError) if "slug" in vars(cls) and cls.slug}


def error_class(status: int, slug: str | None) -> type[ClientError]:
    """Return the class for an answer, by its problem type or else, for one that is new, by its status."""
    if slug in _BY_SLUG:
        return _BY_SLUG[slug]
    if status >= 500:
        return _BY_STATUS.get(status, ServerError)
    return _BY_STATUS.get(status, UnexpectedAnswer)
