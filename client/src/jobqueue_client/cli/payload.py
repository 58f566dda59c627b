"""The payload of a new job, as it is given on the command line."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from jobqueue_client.jobs import JsonObject, encode

_MOST_BYTES = 1 << 20
"""More than the API takes, so that it is the API that says how much that is."""


def read_payload(given: str | None) -> JsonObject:
    """Return the payload: JSON, ``@`` and the name of a file, ``-`` for standard input, or None for ``{}``.

    Raises
    ------
    click.BadParameter
        It is not a JSON object, or it would not arrive as it was given.
    """
    if given is None:
        return {}
    if given != "-" and not given.startswith("@"):
        return _parse(given, "the payload")
    data = _read(given, _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise click.BadParameter(f"the payload is larger than {_MOST_BYTES:,} bytes.")
    return _parse(_text(data, given), "the payload")


def read_payloads(given: str) -> list[tuple[int, JsonObject]]:
    """Return the payloads in a file (``@`` and its name) or standard input (``-``), and the line of each.

    Empty lines are left out.

    Raises
    ------
    click.BadParameter
        One of them is not a JSON object, or would not arrive as it was given.
    """
    if given != "-" and not given.startswith("@"):
        raise click.BadParameter("with --lines, the payloads come from @FILE or from - (standard input).")
    # a string may hold what splitlines() takes for the end of a line
    lines = enumerate(_text(_read(given, -1), given).split("\n"), 1)
    return [(number, _parse(line, f"line {number}")) for number, line in lines if line.strip()]


def _read(given: str, most: int) -> bytes:
    if given in {"-", "@-"}:
        return sys.stdin.buffer.read(most)
    try:
        with Path(given[1:]).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise click.BadParameter(f"{given[1:]} cannot be read: {error.strerror}.") from None


def _text(data: bytes, given: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        where = "standard input" if given in {"-", "@-"} else given[1:]
        raise click.BadParameter(f"{where} is not UTF-8.") from None


def _parse(text: str, what: str) -> JsonObject:
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
        encode(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise click.BadParameter(f"{what} is not JSON: {error.msg} ({where}).") from None
    except UnicodeEncodeError:
        raise click.BadParameter(f"{what} has half a surrogate pair, which is no character.") from None
    except RecursionError:
        raise click.BadParameter(f"{what} is nested too deeply.") from None
    except ValueError as error:
        raise click.BadParameter(f"{what} is not acceptable JSON: {error}.") from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"{what} is JSON, but not an object: it has to begin with {{.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name in members if sum(name == one for one, _ in pairs) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return members


def _float(text: str) -> float:
    value = float(text)
    try:
        is_same = math.isfinite(value) and Decimal(repr(value)) == Decimal(text)
    except InvalidOperation:
        is_same = False
    if not is_same:
        # what would arrive as another number is better refused here
        raise ValueError(f"{text} does not fit into a double")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")
