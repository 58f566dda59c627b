"""Cursors: where a list goes on, in a form that works only where it was made.

A cursor is a place in the lanes with a digest of whose list it was. It is no secret and gives no access:
the queue checks the place against the caller's own lanes once more.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from jobqueue.api.models import MAX_CURSOR
from jobqueue.errors import InvalidCursor
from jobqueue.principal import Principal
from jobqueue.queue import JobFilter, Position


def encode(position: Position | None, caller: Principal, route: str, wanted: JobFilter) -> str | None:
    """Write a cursor for `position`, bound to the caller, its queues, the route and the filter."""
    if position is None:
        return None
    place = [position.lane, position.lane_order, position.id]
    made_for = [caller.id, sorted(caller.queues), route, wanted.status, wanted.queue, wanted.type]
    digest = hashlib.sha256(_compact([place, made_for])).hexdigest()[:32]
    return base64.urlsafe_b64encode(_compact([*place, digest])).decode().rstrip("=")


def decode(cursor: str | None, caller: Principal, route: str, wanted: JobFilter) -> Position | None:
    """Read a cursor that `encode` wrote for the same caller, route and filter.

    Raises
    ------
    InvalidCursor
        If it is anything else.
    """
    if cursor is None:
        return None
    members = _members(cursor)
    if len(members) != 4 or not all(isinstance(member, str) for member in members):
        raise InvalidCursor
    position = Position(lane=members[0], lane_order=members[1], id=members[2])
    # written again it must be the same text, digest included; base64 and JSON have other spellings
    if encode(position, caller, route, wanted) != cursor:
        raise InvalidCursor
    return position


def _members(cursor: str) -> list[Any]:
    if len(cursor) > MAX_CURSOR:
        raise InvalidCursor
    try:
        members = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        raise InvalidCursor from None
    if not isinstance(members, list):
        raise InvalidCursor
    return members


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
