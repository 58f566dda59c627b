"""The index of lanes: how it is asked, and how a page of its entries is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from jobqueue.dynamodb import faults, names
from jobqueue.errors import CorruptItem
from jobqueue.item import LaneEntry, Unreadable, read_entry, to_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDEX = "lanes"

Place: TypeAlias = tuple[str, str]
"""Of the last entry that was looked at: its `lane_order` and its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePage:
    """Some entries of a lane, and where the lane goes on; None at its end.

    One bad entry must not keep the others from being claimed, so those that cannot be read stand apart.
    """

    entries: tuple[LaneEntry, ...]
    next: Place | None
    unreadable: tuple[Unreadable, ...] = ()


class LaneIndex:
    """Asks the index. Eventually consistent, as every index is.

    Parameters
    ----------
    client : DynamoDB client
        Its timeouts and retries are the caller's choice.
    table : str
        The name of the jobs table.
    """

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def ask(
        self, lane: str, start: Place | None, condition: str, values: Mapping[str, Any], **request: Any
    ) -> Mapping[str, Any]:
        """Query a lane once.

        Parameters
        ----------
        lane : str
            One of `jobqueue.lanes`.
        start : Place or None
            Go on after it.
        condition : str
            Which part of the lane, about ``#lane_order``; empty for all of it.
        values : mapping
            What it compares with, and a filter too, by ``:name``.
        **request
            More arguments of Query.
        """
        whole = "#lane = :lane" + (f" AND {condition}" if condition else "")
        if start is not None:
            place, job_id = start
            request["ExclusiveStartKey"] = to_item({"lane": lane, "lane_order": place, "id": job_id})
        with faults():
            answer: Mapping[str, Any] = self._client.query(
                TableName=self._table,
                IndexName=INDEX,
                KeyConditionExpression=whole,
                ExpressionAttributeNames=names(whole + request.get("FilterExpression", "")),
                ExpressionAttributeValues=to_item({":lane": lane, **values}),
                **request,
            )
        return answer

    def read(
        self,
        lane: str,
        *,
        limit: int,
        start: Place | None = None,
        since: str | None = None,
        until: str | None = None,
        newest_first: bool = False,
    ) -> LanePage:
        """Read entries of a lane in its order.

        Parameters
        ----------
        lane : str
            One of `jobqueue.lanes`.
        limit : int
            The most entries to read.
        start : Place or None
            Go on after this entry.
        since, until : str or None
            Only entries whose order is after `since`, or up to `until`; not both.
        newest_first : bool
            Read backwards.
        """
        condition, values = "", {}
        if until is not None:
            condition, values = "#lane_order <= :until", {":until": until}
        if since is not None:
            condition, values = "#lane_order > :since", {":since": since}
        answer = self.ask(lane, start, condition, values, Limit=limit, ScanIndexForward=not newest_first)
        entries, unreadable = _read_entries(answer["Items"])
        return LanePage(entries=entries, next=next_place(answer), unreadable=unreadable)

    def pages(self, lane: str, limits: Iterable[int], *, until: str) -> Iterator[LanePage]:
        """Read a lane up to `until`, one page for each of `limits` at most, each when it is asked for."""
        start: Place | None = None
        for limit in limits:
            page = self.read(lane, limit=limit, start=start, until=until)
            yield page
            start = page.next
            if start is None:
                return


def next_place(answer: Mapping[str, Any]) -> Place | None:
    """Return where a lane goes on after an answer; None at its end."""
    last = answer.get("LastEvaluatedKey")
    return (last["lane_order"]["S"], last["id"]["S"]) if last else None


def _read_entries(items: Sequence[Mapping[str, Any]]) -> tuple[tuple[LaneEntry, ...], tuple[Unreadable, ...]]:
    entries: list[LaneEntry] = []
    unreadable: list[Unreadable] = []
    for item in items:
        try:
            entries.append(read_entry(item))
        except CorruptItem:
            unreadable.append(Unreadable(item["id"]["S"]))
    return tuple(entries), tuple(unreadable)
