"""Questions about whole lanes, which are answered without reading every entry into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Any

from jobqueue.dynamodb import make_client
from jobqueue.laneindex import LaneIndex, Place, next_place
from jobqueue.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LARGEST_PAGE = 3000  # more than DynamoDB puts into one
PAGE_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Between:
    """The entries of a lane from one `lane_order` to another, both included; `since` is the smaller one."""

    since: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCount:
    """How many entries some of a lane has, and where the lane goes on; None at its end."""

    entries: int
    next: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneMatches:
    """What matches in some of a lane, as (lane_order, id), and where the lane goes on; None at its end."""

    places: tuple[Place, ...]
    next: Place | None


class LaneQueries:
    """Asks the index of lanes. Eventually consistent, as every index is.

    Parameters
    ----------
    client : DynamoDB client
        Its timeouts and retries are the caller's choice.
    name : str
        The name of the jobs table.
    """

    def __init__(self, client: DynamoDBClient, name: str) -> None:
        self._index = LaneIndex(client, name)

    def count(self, lane: str, *, limit: int, start: Place | None = None) -> LaneCount:
        """Count up to `limit` entries of a lane, after the place `start`; a page of DynamoDB is the most."""
        answer = self._index.ask(lane, start, "", {}, Select="COUNT", Limit=limit)
        return LaneCount(entries=answer["Count"], next=next_place(answer))

    def of_type(
        self,
        lane: str,
        type_name: str | None,
        *,
        between: Between,
        limit: int,
        start: Place | None = None,
    ) -> LaneMatches:
        """Find the jobs of one type (None: of all) among some entries of a lane, the oldest first.

        Parameters
        ----------
        lane : str
            The lane.
        type_name : str or None
            The type.
        between : Between
            Only entries there.
        limit : int
            The most entries to look at; a page of DynamoDB is the most.
        start : Place or None
            Go on after this one.
        """
        condition = "#lane_order BETWEEN :since AND :until"
        values = {":since": between.since, ":until": between.until}
        request: dict[str, Any] = {"Limit": limit}
        if type_name is not None:
            request["FilterExpression"] = "#type = :type"
            values[":type"] = type_name
        answer = self._index.ask(lane, start, condition, values, **request)
        places = tuple((item["lane_order"]["S"], item["id"]["S"]) for item in answer["Items"])
        return LaneMatches(places=places, next=next_place(answer))


class Search:
    """Looks for jobs in lanes, the oldest first of all lanes together, until it is late.

    The first page of each lane is always looked at. Pages grow: what a filter lets pass may be rare.
    """

    def __init__(
        self,
        lane_queries: LaneQueries,
        type_name: str | None,
        between: Between,
        *,
        page: int,
        is_late: Callable[[], bool],
    ) -> None:
        self._lane_queries = lane_queries
        self._type_name = type_name
        self._between = between
        self._page = page
        self._is_late = is_late
        self.is_cut_off = False

    def places(self, lanes: tuple[str, ...]) -> Iterator[Place]:
        """Yield the places of jobs."""
        return merge(*map(self._in_lane, lanes))

    def _in_lane(self, lane: str) -> Iterator[Place]:
        start: Place | None = None
        limit = self._page
        while True:
            page = self._lane_queries.of_type(
                lane, self._type_name, between=self._between, limit=limit, start=start
            )
            yield from page.places
            start = page.next
            if start is None:
                return
            if self._is_late():
                self.is_cut_off = True
                return
            limit = min(LARGEST_PAGE, limit * PAGE_GROWTH)


def open_lane_queries(settings: Settings, *, client: DynamoDBClient | None = None) -> LaneQueries:
    """Open the lanes of a deployment; without a client, `dynamodb.make_client` makes one."""
    return LaneQueries(client or make_client(), settings.jobs_table)
