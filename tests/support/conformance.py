"""How schemathesis is asked to look for what the description of the API does not tell."""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.schemas import BaseSchema

from tests.support.contract import document, operations

_CHECKS: dict[str, Any] = {
    # HTTP APIs of API Gateway answer 404 to a method that a path does not have
    "unsupported_method": {"enabled": False},
    # JSON Schema cannot tell everything: sizes in bytes, and what two fields must not say together
    "positive_data_acceptance": {"enabled": False},
    "negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 409, 413, 415, 422]},
}
_BATCHES = ("/jobs/batch", "/jobs/batch/complete")
"""They take what is wrong with one item, and answer it on its own."""


def checked_schema(*, examples: int, is_thorough: bool) -> BaseSchema:
    """Return the description of the API as schemathesis has it.

    Parameters
    ----------
    examples : int
        How many requests to make up for each operation, beside the document's own.
    is_thorough : bool
        Whether to cover each keyword of its schemas as well, and to repeat each call without a credential.
    """
    config = {
        "seed": 4711,
        "generation": {"max-examples": examples, "deterministic": True, "no-shrink": True},
        "phases": {"coverage": {"enabled": is_thorough}},
        "checks": {**_CHECKS, "ignored_auth": {"enabled": is_thorough}},
        "operations": [
            {"include-path": path, "checks": {"negative_data_rejection": {"enabled": False}}}
            for path in _BATCHES
        ],
    }
    return schemathesis.openapi.from_dict(document(), config=SchemathesisConfig.from_dict(config))


def role_of(case: schemathesis.Case[Any]) -> str | None:
    """Return a role that may do what `case` does; None if everybody may."""
    security = operations()[case.operation.definition.raw["operationId"]]["security"]
    return str(security[0]["ApiKey"][0]) if security else None


def has_null_in_query(case: schemathesis.Case[Any]) -> bool:
    """Tell whether a parameter of the query is null, or one of several that are."""
    values = [one if isinstance(one, list) else [one] for one in (case.query or {}).values()]
    return any(value is None for several in values for value in several)
