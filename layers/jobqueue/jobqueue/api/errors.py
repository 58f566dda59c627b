"""What can be wrong with a request before the queue is asked."""

from __future__ import annotations

from collections.abc import Iterable

from jobqueue.errors import JobQueueError


class InvalidJson(JobQueueError):
    """The body is not a JSON object in UTF-8 with each member once and finite numbers only."""


class BodyTooLarge(JobQueueError):
    """The body is larger than this route accepts."""


class UnsupportedMediaType(JobQueueError):
    """The body must be JSON: send it as application/json."""


class RouteNotFound(JobQueueError):
    """There is no such route."""


class MethodNotAllowed(JobQueueError):
    """The route does not have this method."""

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__()
        self.allowed = tuple(allowed)
