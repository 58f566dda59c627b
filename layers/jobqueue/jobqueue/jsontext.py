"""JSON as it is stored: compact text, with limits on its size, its depth and its characters."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 32

_SURROGATES = (0xD800, 0xDFFF)


class NotStorable(ValueError):
    """The value cannot be kept as JSON. `code` says why, for a machine."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def to_text(value: Any, *, max_bytes: int) -> str:
    """Write `value` as compact JSON.

    Parameters
    ----------
    value : JSON value
        What to write: dict, list, str, int, float, bool or None.
    max_bytes : int
        The longest result that is accepted, in bytes of UTF-8.

    Raises
    ------
    NotStorable
        If the text is too long, or the value is nested more than 32 levels deep, holds half of a surrogate
        pair, or is not JSON (NaN, Infinity, another type).
    """
    _check_depth(value)
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except UnicodeEncodeError:
        raise NotStorable("invalid_unicode", "has half of a surrogate pair") from None
    except (TypeError, ValueError):
        raise NotStorable("not_json", "is not JSON") from None
    if size > max_bytes:
        raise NotStorable("too_long", f"is longer than {max_bytes} bytes as compact JSON")
    return text


def canonical(value: Any) -> str:
    """Write `value` so that equal JSON gives equal text: members sorted, no white space."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def has_lone_surrogate(text: str) -> bool:
    """Tell whether `text` holds half of a surrogate pair, which UTF-8 cannot carry."""
    low, high = _SURROGATES
    return any(low <= ord(character) <= high for character in text)


def _check_depth(value: Any) -> None:
    # a loop, not recursion: a deep value must be refused, not exhaust the stack
    level, depth = [value], 0
    while level:
        containers = [item for item in level if isinstance(item, dict | list | tuple)]
        depth += bool(containers)
        if depth > MAX_DEPTH:
            raise NotStorable("too_deep", f"is nested more than {MAX_DEPTH} levels deep")
        level = [
            child for item in containers for child in (item.values() if isinstance(item, dict) else item)
        ]
