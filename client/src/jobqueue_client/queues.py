"""The calls of an operator: what is in the queues, pause and resume, retry in bulk."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .errors import UnexpectedAnswer
from .jobs import JsonObject, encode
from .retry import Repeat
from .timestamps import read_timestamp, write_timestamp
from .transport import Transport

_QUEUE = re.compile(r"[a-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How many jobs of a queue are in each state. `pending` is by priority, delayed jobs included."""

    pending: dict[str, int] = field(default_factory=dict)
    running: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """One queue as the API shows it.

    Attributes
    ----------
    name : str
        As the deployment declares it.
    paused : bool
        Whether it hands out no jobs. It takes them all the same.
    counts : JobCounts or None
        What is in it. They may lag a few seconds behind. None where the API does not say: in the answer to
        a pause or a resume.
    oldest_pending_at : datetime or None
        Since when the job that waits longest has been waiting. Aware and in UTC; None when none waits.
    oldest_age_seconds : float or None
        How long that has been, by the API's clock.
    """

    name: str
    paused: bool
    counts: JobCounts | None = None
    oldest_pending_at: datetime | None = None
    oldest_age_seconds: float | None = None

    @classmethod
    def from_json(cls, data: object) -> Queue:
        """Read a queue from an answer.

        Raises
        ------
        UnexpectedAnswer
            If `data` is not a queue.
        """
        if not isinstance(data, dict):
            raise UnexpectedAnswer("The API's answer is not a queue.")
        name, paused, counts = data.get("name"), data.get("paused"), data.get("counts")
        oldest, age = data.get("oldest_pending_at"), data.get("oldest_age_seconds")
        if not isinstance(name, str) or not isinstance(paused, bool):
            raise UnexpectedAnswer("The API's answer is not a queue.")
        if age is not None and (isinstance(age, bool) or not isinstance(age, int | float)):
            raise UnexpectedAnswer("The API's answer has an age that is not a number.")
        return cls(
            name=name,
            paused=paused,
            counts=None if counts is None else _counts(counts),
            oldest_pending_at=None if oldest is None else read_timestamp(oldest),
            oldest_age_seconds=age,
        )


@dataclass(frozen=True, slots=True)
class Retried:
    """What one step of a retry in bulk did.

    Attributes
    ----------
    retried : int
        Jobs that are pending again.
    skipped : int
        Jobs that it looked at and left: somebody else had moved them meanwhile.
    more : bool
        Whether there may be more to retry.
    """

    retried: int
    skipped: int
    more: bool


class QueueCalls:
    """What an operator's credential may do. Mixed into `Client`."""

    _transport: Transport

    def queues(self) -> tuple[Queue, ...]:
        """Return all queues that are granted, with the number of jobs in each state."""
        found = self._transport.send("GET", "/queues").body.get("queues")
        if not isinstance(found, list):
            raise UnexpectedAnswer("The API's answer has no queues.")
        return tuple(map(Queue.from_json, found))

    def pause(self, queue: str) -> Queue:
        """Let a queue hand out no jobs, within ten seconds everywhere (admins only).

        It goes on taking jobs, and those that run go on running. Pausing what is paused changes nothing.

        Raises
        ------
        QueueNotFound
            There is no such queue.
        ValueError
            `queue` cannot be a queue's name.
        """
        return Queue.from_json(self._steer(queue, "pause", {}))

    def resume(self, queue: str) -> Queue:
        """Let a paused queue hand out jobs again (admins only). The rest is as with `pause`."""
        return Queue.from_json(self._steer(queue, "resume", {}))

    def retry_failed(
        self,
        queue: str,
        *,
        job_type: str | None = None,
        status: str = "failed",
        limit: int = 100,
        finished_before: datetime | None = None,
    ) -> Retried:
        """Put many failed jobs back into their queue, the oldest first, in one bounded step (admins only).

        Call it again while `more` is set. It is not repeated when its answer is lost, since each call that
        arrives retries up to `limit` jobs more; calling it again does no other harm.

        Parameters
        ----------
        queue : str
            The jobs' queue.
        job_type : str, optional
            Only jobs of this type.
        status : str
            ``failed`` or ``cancelled``.
        limit : int
            How many jobs to retry at most, up to 100.
        finished_before : datetime, optional
            Only jobs that failed before this time, which needs a time zone. With the same time in every step,
            jobs that fail again meanwhile are not retried again.

        Raises
        ------
        QueueNotFound
            There is no such queue.
        Unavailable
            No answer; `may_have_landed` tells whether jobs may have been retried all the same.
        ValueError
            `queue` cannot be a queue's name, or `finished_before` is naive or beyond the calendar in UTC.
        """
        wanted: JsonObject = {"status": status, "limit": limit}
        if job_type is not None:
            wanted["type"] = job_type
        if finished_before is not None:
            wanted["finished_before"] = write_timestamp("finished_before", finished_before)
        body = self._steer(queue, "retry", wanted, repeat=Repeat.UNLESS_RECEIVED)
        more = body.get("more")
        if not isinstance(more, bool):
            raise UnexpectedAnswer("The API's answer does not say whether there is more to retry.")
        return Retried(_number(body.get("retried")), _number(body.get("skipped", 0)), more)

    def _steer(
        self, queue: str, verb: str, body: JsonObject, *, repeat: Repeat = Repeat.ALWAYS
    ) -> JsonObject:
        path = f"{queue_path(queue)}/{verb}"
        return self._transport.send("POST", path, body=encode(body), repeat=repeat).body


def queue_path(queue: str) -> str:
    """Return the path of a queue.

    Raises
    ------
    ValueError
        If `queue` cannot be a name: it could lead to another route.
    """
    if not _QUEUE.fullmatch(queue):
        raise ValueError("a queue's name is up to 64 small letters, digits, - and _")
    return f"/queues/{queue}"


def _counts(data: object) -> JobCounts:
    if not isinstance(data, dict) or not isinstance(data.get("pending", {}), dict):
        raise UnexpectedAnswer("The API's answer has counts that are none.")
    by_status = {name: _number(data.get(name, 0)) for name in ("running", "completed", "failed", "cancelled")}
    pending = {str(priority): _number(count) for priority, count in data.get("pending", {}).items()}
    return JobCounts(pending=pending, **by_status)


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnexpectedAnswer("The API's answer has a count that is not a number.")
    return value
