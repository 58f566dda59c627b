"""What the document says beside what it reads from the code."""

from __future__ import annotations

from typing import Any

from openapi.routes import Route

DESCRIPTION = """\
A job is enqueued by a **producer**, claimed and worked by a **worker**, watched and mended by an **admin**.
Each of them shows a credential, which tells its role, the queues that it is granted, and the highest
priority that it may use.

**Delivery** is at least once: a job is never lost and never held by two workers, and it may be started
again after a crash, so what it does must be safe to repeat.

**When an answer was lost**, these may be sent again: enqueuing with an `idempotency_key`; complete, fail
and release with their `lease_token`; heartbeat, cancel, pause and resume; whatever only reads. Enqueuing
without a key makes a second job. Complete, fail and release without a token, and the retry of one job, are
409 the second time. Claiming again claims other jobs, and the lost ones are given back when their lease ends.
Retrying a queue again retries more jobs.

**Times** are in UTC with microseconds. **Bodies** are JSON objects in UTF-8, sent as `application/json`,
`+json`, or without a Content-Type. A member twice, NaN, an unknown field, a number as text: all are refused
and none is guessed.

**Refusals** are problem details (RFC 9457). Their `type` names what went wrong, and never changes. What the
gateway itself answers, without asking the API, is `{"message": ...}` as `application/json`: 401 without a
credential, 403 with one that is not known, 404 for a route that does not exist, 413, 429, and 5xx. A client
must take both. After 429 and 503, wait as long as `Retry-After` says, or else a second and more. 429 comes
from the gateway for a route, and from the API for a caller, where the deployment limits what each may send.
"""

TAGS: list[dict[str, str]] = [
    {"name": "Jobs", "description": "Enqueue jobs and see what becomes of them."},
    {"name": "Work", "description": "Claim jobs, hold them, and tell how they ended."},
    {"name": "Queues", "description": "See what is in the queues, and operate them."},
    {"name": "Pages", "description": "What everybody may see. There is no data in them."},
]

_WORK = {"claim", "complete", "fail", "heartbeat", "release"}

SCHEMES: dict[str, Any] = {
    "ApiKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "jq_...",
        "description": "An API key, which begins with `jq_`. `python -m jobqueue.keys` makes it.",
    },
    "Jwt": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A JSON Web Token (RS256 or ES256) of the issuer that the deployment names, if any. "
        "Its claims tell role, queues and highest priority.",
    },
}
SCHEME_NAMES = tuple(SCHEMES)

GATEWAY = {
    401: "no credential was sent",
    403: "the credential is not known, was revoked, or has expired",
    404: "there is no such route, as with an empty parameter in the path",
    413: "the body is larger than anything that could be taken",
    429: "there were too many requests",
    500: "the gateway failed",
    503: "the API did not answer in time",
}
"""What the gateway answers by itself, and when."""


def tag(route: Route) -> str:
    """Return the chapter that a route belongs to."""
    if route.path.startswith("/queues"):
        return "Queues"
    return "Work" if route.path.rpartition("/")[2] in _WORK else "Jobs"


def who(route: Route) -> str:
    """Return who may call a route, as a sentence."""
    names = [f"{role.value}s" for role in route.app.roles]
    return f"For {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}."
