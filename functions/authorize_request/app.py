"""The authorizer of the HTTP API: turns the credential of a request into who is calling."""

from __future__ import annotations

from typing import Any

from jobqueue.authorizer import open_authorizer

authorizer = open_authorizer()


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer with the caller, or with a refusal."""
    return authorizer.answer(event)
