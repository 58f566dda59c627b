"""How errors of fields are told to a caller: few stable codes, and no message that quotes a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jobqueue.errors import FieldError

LONGEST_NAME = 100
"""A caller chooses the names of unknown fields; the answer does not grow with them."""

_CODES = {
    "enum": "unknown_value",
    "extra_forbidden": "unknown_field",
    "literal_error": "unknown_value",
    "missing": "missing",
    "string_pattern_mismatch": "malformed",
    "string_too_long": "too_long",
    "string_too_short": "too_short",
    "string_unicode": "invalid_unicode",
    "too_long": "too_long",
    "too_short": "too_short",
    "int_from_float": "wrong_type",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "union_tag_invalid": "unknown_value",
    "union_tag_not_found": "missing",
    # what this package's own validators raise
    "conflict": "conflict",
    "invalid_unicode": "invalid_unicode",
    "malformed": "malformed",
    "no_time_zone": "no_time_zone",
    "unknown_value": "unknown_value",
    "wrong_type": "wrong_type",
}
_MESSAGES = {
    "missing": "is required",
    "unknown_field": "is not a known field",
    # pydantic's own words quote the value, or the pattern
    "union_tag_invalid": "is not one of the known kinds",
    "string_pattern_mismatch": "does not have the form that is required",
}


def field_error(name: str, code: str, message: str) -> FieldError:
    """Return an error whose message begins with its field, as all do."""
    return FieldError(name, code, f"{name}: {message}")


def field_errors(
    errors: Iterable[Mapping[str, Any]], path: Sequence[str | int] = ()
) -> tuple[FieldError, ...]:
    """Translate what pydantic found.

    Parameters
    ----------
    errors : iterable of mappings
        As `pydantic.ValidationError.errors` gives them.
    path : sequence
        Where the validated value is, in front of each error's own place.
    """
    return tuple(_field_error(error, path) for error in errors)


def _field_error(error: Mapping[str, Any], path: Sequence[str | int]) -> FieldError:
    name = ".".join(str(part) for part in (*path, *error["loc"])) or "body"
    if len(name) > LONGEST_NAME:
        name = name[:LONGEST_NAME] + "…"
    kind: str = error["type"]
    code = "wrong_type" if kind.endswith("_type") else _CODES.get(kind, "invalid")
    message = _MESSAGES.get(kind) or _MESSAGES.get(code) or error["msg"]
    return field_error(name, code, message)
