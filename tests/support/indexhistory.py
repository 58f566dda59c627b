"""The past of the index of lanes, so that a query can be answered from it.

A global index follows its table a little later. No engine on a laptop does, so what was written is
remembered here, write by write, and a query is answered as the index stood some writes ago.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from functools import cache
from typing import Any, TypeAlias

from tests.support.template import resources

Entry: TypeAlias = dict[str, Any]


OLDEST = 100
"""The state of so many writes ago is the oldest that is kept."""


class IndexHistory:
    """The last states that the index of lanes went through."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._past: dict[str, dict[str, Entry]] = {}  # by lane and id, as it was OLDEST writes ago
        self._lane_of: dict[str, str] = {}
        self._since: deque[tuple[str, Entry | None]] = deque()
        self._revs: dict[str, int] = {}

    def record(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Remember a write that landed: its request and its answer, as JSON."""
        key = request.get("Key") or request["Item"]
        if "id" not in key:
            return  # of another table
        item = request.get("Item") or answer.get("Attributes")
        job_id = key["id"]["S"]
        rev = int(item["rev"]["N"]) if item else -1
        with self._lock:
            # two writes of one job may be heard of the wrong way round; the later one has the higher rev
            if "Item" not in request and item and rev < self._revs.get(job_id, 0):
                return
            self._revs[job_id] = rev
            self._since.append((job_id, _projected(item) if item else None))
            if len(self._since) > OLDEST:
                _apply(self._past, self._lane_of, *self._since.popleft())

    def query(self, request: dict[str, Any], lag: int) -> dict[str, Any]:
        """Answer a query as the index stood `lag` writes ago."""
        values = {name: value["S"] for name, value in request["ExpressionAttributeValues"].items()}
        entries = sorted(
            self._lane(values[":lane"], lag), key=_place, reverse=not request.get("ScanIndexForward", True)
        )
        entries = [entry for entry in entries if _is_within(entry, values)]
        if start := request.get("ExclusiveStartKey"):
            backwards = not request.get("ScanIndexForward", True)
            entries = [entry for entry in entries if _is_after(entry, start, backwards=backwards)]
        page = entries[: request["Limit"]]
        answer: dict[str, Any] = {"Items": page, "Count": len(page), "ScannedCount": len(page)}
        if len(entries) >= request["Limit"]:
            answer["LastEvaluatedKey"] = {name: page[-1][name] for name in ("lane", "lane_order", "id")}
        return answer

    def _lane(self, lane: str, lag: int) -> list[Entry]:
        if lag > OLDEST:
            raise ValueError(f"no state is kept from {lag} writes ago")
        with self._lock:
            entries = dict(self._past.get(lane, {}))
            for job_id, entry in itertools.islice(self._since, max(0, len(self._since) - lag)):
                entries.pop(job_id, None)
                if entry is not None and entry["lane"]["S"] == lane:
                    entries[job_id] = entry
        return list(entries.values())


def _apply(
    lanes: dict[str, dict[str, Entry]], lane_of: dict[str, str], job_id: str, entry: Entry | None
) -> None:
    if job_id in lane_of:
        del lanes[lane_of.pop(job_id)][job_id]
    if entry is not None:
        lane_of[job_id] = entry["lane"]["S"]
        lanes.setdefault(lane_of[job_id], {})[job_id] = entry


@cache
def _kept() -> frozenset[str]:
    (index,) = resources("AWS::DynamoDB::Table")["JobsTable"]["Properties"]["GlobalSecondaryIndexes"]
    return frozenset({"id", "lane", "lane_order", *index["Projection"]["NonKeyAttributes"]})


def _projected(item: Entry) -> Entry:
    return {name: value for name, value in item.items() if name in _kept()}


def _place(entry: Entry) -> tuple[str, str]:
    return entry["lane_order"]["S"], entry["id"]["S"]


def _is_within(entry: Entry, values: dict[str, str]) -> bool:
    order: str = entry["lane_order"]["S"]
    if ":since" in values and ":until" in values:
        return values[":since"] <= order <= values[":until"]
    return order <= values.get(":until", order) and (":since" not in values or order > values[":since"])


def _is_after(entry: Entry, start: Entry, *, backwards: bool) -> bool:
    return _place(entry) < _place(start) if backwards else _place(entry) > _place(start)
