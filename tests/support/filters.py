"""What the filter of an event source lets pass, as Lambda decides it."""

from __future__ import annotations

from typing import Any


def matches(value: Any, pattern: Any) -> bool:
    """Match as Lambda does: lists of accepted values at the leaves, `anything-but` among them."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(matches(value.get(name), one) for name, one in pattern.items())
    return any(
        value is not None and value not in accepted["anything-but"]
        if isinstance(accepted, dict)
        else value == accepted
        for accepted in pattern
    )
