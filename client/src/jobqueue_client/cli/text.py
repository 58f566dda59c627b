"""How things are written: text as text, times and durations, JSON."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from jobqueue_client.jobs import Job, JsonObject
from jobqueue_client.queues import Queue

# These join letters in Persian, Hindi and emoji. All else of their kind may hide or turn text.
_JOINERS = "\u200c\u200d"


def plain(text: object, *, lines: bool = False) -> str:
    """Return `text` with all that a terminal could act on, or that could hide or turn text, as JSON escapes.

    Parameters
    ----------
    text : object
        Anything; its ``str`` is taken.
    lines : bool
        Leave line feeds as they are.
    """
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(c if _is_shown(c) or (lines and c == "\n") else json.dumps(c)[1:-1] for c in whole)


def _is_shown(character: str) -> bool:
    # isprintable() knows no space but the ASCII one
    return character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit of which there are at least two: ``95s``, ``3m``, ``40h``."""
    whole = max(0, int(seconds))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if whole >= 2 * length:
            return f"{whole // length}{unit}"
    return f"{whole}s"


def moment(when: datetime) -> str:
    """Return a time for a person."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def moment_of(wall: float) -> str:
    """Return a time, given in seconds since the epoch, for a person."""
    return moment(datetime.fromtimestamp(wall, UTC))


def pretty(value: object) -> str:
    """Return JSON for a person, on several lines, safe to show."""
    return plain(json.dumps(value, ensure_ascii=False, indent=2), lines=True)


def compact(value: object) -> str:
    """Return JSON for a person, on one line, safe to show."""
    return plain(json.dumps(value, ensure_ascii=False))


def line_of_json(value: Mapping[str, Any]) -> str:
    """Return JSON for a script. It is ASCII, so a terminal cannot act on it either."""
    return json.dumps(value, default=_timestamp, separators=(",", ":"))


def job_members(job: Job) -> JsonObject:
    """Return the members of `job` that the API showed, under the API's names."""
    return {name: value for name, value in asdict(job).items() if value is not None and value != ()}


def queue_members(queue: Queue) -> JsonObject:
    """Return the members of `queue`, under the API's names."""
    members = asdict(queue)
    return members if queue.counts else {"name": queue.name, "paused": queue.paused}


def _timestamp(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
