"""JSON as the API takes and gives it: what two parsers could read differently is refused."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal
from typing import Any, NoReturn

from jobqueue.api.errors import InvalidJson
from jobqueue.errors import FieldError, InvalidRequest

MAX_DEPTH = 100
"""Levels of the whole body. Payloads have their own, lower limit; this one protects the process."""

MAX_DIGITS = 4300
"""Of an integer: what Python converts by default, whatever the environment says."""

_ALWAYS_KEPT = sys.float_info.dig
_MOST_DIGITS = 767
"""That a double-precision number has, written out in full."""

_TOO_PRECISE = "body: has a number with more digits than double precision keeps; send it as text"


def loads(text: str) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    InvalidJson
        If `text` is not JSON, is not an object, repeats a member, or holds a number that no
        double-precision number is near.
    InvalidRequest
        If it is nested more than 100 levels deep, or holds a decimal that would come back as another one,
        since no double-precision number has these digits.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise InvalidJson from None
    if not isinstance(value, dict):
        raise InvalidJson
    if text.count("{") + text.count("[") > MAX_DEPTH:  # or it cannot be that deep
        _check_depth(value)
    return value


def dumps(value: Any) -> str:
    """Write `value` as compact JSON that is always valid and can always be sent.

    Raises
    ------
    ValueError
        If it holds NaN or an infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) != len(members):
        raise InvalidJson
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise InvalidJson


def _finite(digits: str) -> float:
    number = float(digits)
    significant = len(digits.lower().partition("e")[0].replace("-", "").replace(".", "").strip("0"))
    # too large, or so small that nothing is left of it: not the number that was sent
    if math.isinf(number) or (number == 0 and significant):
        raise InvalidJson
    if not _is_kept(number, digits, significant):
        raise InvalidRequest(FieldError("body", "too_precise", _TOO_PRECISE))
    return number


def _is_kept(number: float, digits: str, significant: int) -> bool:
    """Tell whether `number`, in its shortest form or with as many digits as were sent, is what was sent."""
    if number == 0 or (significant <= _ALWAYS_KEPT and sys.float_info.min <= abs(number)):
        return True
    if significant > _MOST_DIGITS:
        return False
    return Decimal(digits) in (Decimal(repr(number)), Decimal(f"{number:.{significant - 1}e}"))


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise InvalidJson
    return int(digits)


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _too_deep()
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list)
        ]


def _too_deep() -> InvalidRequest:
    return InvalidRequest(
        FieldError("body", "too_deep", f"body: is nested more than {MAX_DEPTH} levels deep")
    )
