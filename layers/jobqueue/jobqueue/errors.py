"""Everything that can go wrong in jobqueue: one class for each thing, none of them knowing HTTP.

The docstring of a class is its default message, so an error always says what it means.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass


class JobQueueError(Exception):
    """The job queue refused or failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.getdoc(type(self)) or type(self).__name__)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that was refused.

    Attributes
    ----------
    field : str
        Dotted path from the request's body, or from its query with ``query.`` in front.
    code : str
        A stable, machine-readable reason, such as ``missing`` or ``too_long``.
    message : str
        One sentence for a person. Never quotes the refused value.
    """

    field: str
    code: str
    message: str


class InvalidRequest(JobQueueError):
    """The request has fields that are not acceptable."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__()
        self.errors = errors


class InvalidCursor(JobQueueError):
    """The cursor was not made for this caller, this route and this filter."""


class IdempotencyKeyReused(JobQueueError):
    """The idempotency key was already used for a different request."""


class PriorityNotAllowed(JobQueueError):
    """The priority is above the highest one that the caller may use."""


class QueueNotAllowed(JobQueueError):
    """The caller has no grant for the queue."""


class RoleNotAllowed(JobQueueError):
    """The caller's role does not allow this operation."""


class Unauthenticated(JobQueueError):
    """The request carries no usable identity."""


class TooManyRequests(JobQueueError):
    """The caller sends requests faster than it may."""

    def __init__(self, retry_after_seconds: int = 1) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds


class JobNotFound(JobQueueError):
    """There is no such job."""


class QueueNotFound(JobQueueError):
    """There is no such queue."""


class JobNotHeld(JobQueueError):
    """The job is not running under the caller's lease."""


class ReplayMismatch(JobQueueError):
    """The same call was already made with a different body."""


class JobNotCancellable(JobQueueError):
    """The job has already completed or failed."""


class JobNotRetryable(JobQueueError):
    """Only a failed or cancelled job can be retried."""


class Unavailable(JobQueueError):
    """The service is busy. The call may be repeated."""


class InvalidSettings(JobQueueError):
    """The environment of the function is not usable."""


class InvalidJobTypes(JobQueueError):
    """The declared job types contradict each other."""


class CorruptItem(JobQueueError):
    """A stored item cannot be read as a job."""


class InvalidKeyGrant(JobQueueError):
    """An API key cannot be made like this."""


class KeyNameTaken(JobQueueError):
    """An API key has this name already."""


class KeyNotFound(JobQueueError):
    """There is no API key of this name."""


class KeyChanged(JobQueueError):
    """Another command changed the same API key meanwhile. No key was handed out; try again."""


class CorruptKey(JobQueueError):
    """A stored API key is not as it was written, so it grants nothing. Revoke it and make a new one."""


class InvalidToken(Unauthenticated):
    """The token does not tell who its bearer is."""
