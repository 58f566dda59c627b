"""Who is calling, as the authorizer told the API.

Every function looks for itself, and what is missing or odd is a refusal: a function that is wired to a
route without the authorizer answers nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jobqueue.errors import Unauthenticated
from jobqueue.job import JobPriority
from jobqueue.principal import ALL_QUEUES, Principal, Role

_PRINCIPAL = re.compile(r"key:[a-z0-9._-]{1,64}|jwt:[!-~]{1,512}#[!-~]{1,255}")
_QUEUE = re.compile(r"[a-z0-9_-]{1,64}")


def read_caller(event: Mapping[str, Any]) -> Principal:
    """Return the caller of an HTTP API event.

    Raises
    ------
    Unauthenticated
        Unless the authorizer's context is there, whole and well formed.
    """
    context = _authorizer_context(event)
    principal = _text(context, "principal")
    if not _PRINCIPAL.fullmatch(principal):
        raise Unauthenticated
    try:
        role = Role(_text(context, "role"))
        max_priority = JobPriority(_text(context, "max_priority"))
    except ValueError:
        raise Unauthenticated from None
    return Principal(
        id=principal, role=role, queues=_queues(_text(context, "queues")), max_priority=max_priority
    )


def _authorizer_context(event: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = event
    for name in ("requestContext", "authorizer", "lambda"):
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        raise Unauthenticated
    return found


def _text(context: Mapping[str, Any], name: str) -> str:
    value = context.get(name)
    if not isinstance(value, str):
        raise Unauthenticated
    return value


def _queues(text: str) -> frozenset[str]:
    if text == ALL_QUEUES:
        return frozenset({ALL_QUEUES})
    names = text.split(",")
    if not all(_QUEUE.fullmatch(name) for name in names):
        raise Unauthenticated
    return frozenset(names)
