"""Counts the jobs of a queue anew, and mends counters that are off.

A counter goes wrong when the stream tells a change twice in other batches than before, or not at all. So the
lanes are counted now and then. What they say differs from the counter also while changes are on their way,
by a few seconds' worth, so that one difference proves nothing. A difference that lasts is drift:

* after two recounts with the same sign, when no change was counted in between: nothing is on its way, but
  for a stream that has stood still for so long, and what that does is mended the same way;
* after five with the same sign, in any case.

The smallest of them is then added to the counter. So a quiet queue is right after two minutes, and a busy one
comes as close as its changes on the way let anybody see.

What it costs: a read unit pays for about 20 entries. A counter of n jobs is recounted every
``1 + n // 1000`` minutes, so that at any depth no more than some 1,000 entries a minute are read for it: 50
read units, or 2.2 million a month, which is 0.3 $ for each counter that is never below a thousand. The eight
counters of an empty queue cost 0.2 million, or 0.02 $. A run goes through at most `MOST_ENTRIES` of a queue,
and the next one goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from jobqueue.job import JobPriority, JobStatus
from jobqueue.jobtype import JobTypes
from jobqueue.laneindex import Place
from jobqueue.lanequeries import LaneQueries
from jobqueue.lanes import Lanes
from jobqueue.queues import QueueRecord, QueuesTable, counter

MOST_ENTRIES = 250_000
"""That one run counts in a queue: a hundred pages of DynamoDB, in about five seconds."""

PAGE = 2500
ENTRIES_A_MINUTE = 1000
TIMES_IF_QUIET, TIMES_IF_BUSY = 2, 5

_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """Recounts of one counter that differed from it in the same direction, the last one included.

    Attributes
    ----------
    least : int
        The smallest difference: positive where the counter is too low.
    times : int
        How many.
    batch : str
        The last batch of changes that had been counted by then.
    """

    least: int
    times: int
    batch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A recount that is not at its end.

    Attributes
    ----------
    counter : str
        What is counted.
    lane : str
        The lane that comes next, or is being counted.
    start : Place or None
        Where it goes on in that lane.
    entries : int
        Counted so far.
    """

    counter: str
    lane: str = ""
    start: Place | None = None
    entries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What part of a recount did: entries of the counter in all, entries of this part, and what is left."""

    entries: int
    looked_at: int
    rest: Step | None


class Recounter:
    """Recounts queues.

    Parameters
    ----------
    queues : QueuesTable
        Has the counters.
    lane_queries : LaneQueries
        Counts.
    job_types : JobTypes
        Tells the lanes.
    page, most_entries : int
        How much is counted by one query, and in a queue by one run.
    """

    def __init__(
        self,
        queues: QueuesTable,
        lane_queries: LaneQueries,
        job_types: JobTypes,
        *,
        page: int = PAGE,
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self._queues = queues
        self._lane_queries = lane_queries
        self._lanes = Lanes(job_types)
        self._page = page
        self._most_entries = most_entries

    def recount(self, record: QueueRecord, now: datetime) -> dict[str, int]:
        """Recount what is due of a queue; return by how much each counter was corrected."""
        streaks, step = _read(record.recount)
        batch = record.batches[-1] if record.batches else ""
        left = self._most_entries
        corrections: dict[str, int] = {}
        for name in _due(record.counts, streaks, step, batch, now):
            done = self._go_on(
                record.name, step if step and step.counter == name else Step(counter=name), left
            )
            left -= done.looked_at
            step = done.rest
            if step is not None:
                break
            streak, correction = judge(streaks.pop(name, None), done.entries - record.counts[name], batch)
            if streak is not None:
                streaks[name] = streak
            if correction:
                corrections[name] = correction
        recount = _written(streaks, step)
        if recount == record.recount and not corrections:
            return {}
        return corrections if self._queues.note_recount(record, recount, corrections) else {}

    def _go_on(self, queue: str, step: Step, most: int) -> _Done:
        """Count on from `step`, up to about `most` entries."""
        entries, looked_at = step.entries, 0
        for lane, start in self._places(queue, step):
            place = start
            while True:
                if looked_at >= most:
                    rest = Step(counter=step.counter, lane=lane, start=place, entries=entries)
                    return _Done(entries=entries, looked_at=looked_at, rest=rest)
                page = self._lane_queries.count(lane, limit=self._page, start=place)
                entries += page.entries
                looked_at += max(1, page.entries)
                place = page.next
                if place is None:
                    break
        return _Done(entries=entries, looked_at=looked_at, rest=None)

    def _places(self, queue: str, step: Step) -> Iterator[tuple[str, Place | None]]:
        lanes = self._lanes_of(queue)[step.counter]
        first = lanes.index(step.lane) if step.lane in lanes else 0
        for lane in lanes[first:]:
            yield lane, step.start if lane == step.lane else None

    def _lanes_of(self, queue: str) -> dict[str, tuple[str, ...]]:
        waiting = {
            counter(JobStatus.PENDING, priority): self._lanes.pending(queue, priority)
            for priority in JobPriority
        }
        finished = {
            counter(status, JobPriority.LOW): self._lanes.finished(queue, status)
            for status in JobStatus
            if status.is_finished
        }
        return {
            **waiting,
            counter(JobStatus.RUNNING, JobPriority.LOW): self._lanes.running(queue),
            **finished,
        }


def judge(streak: Streak | None, difference: int, batch: str) -> tuple[Streak | None, int]:
    """Judge a difference between a recount and its counter.

    Parameters
    ----------
    streak : Streak or None
        The recounts before.
    difference : int
        Positive where the counter is too low.
    batch : str
        The last batch of changes that has been counted.

    Returns
    -------
    (Streak or None, int)
        What is left to watch, and by how much to correct the counter now.
    """
    if difference == 0:
        return None, 0
    if streak is None or (streak.least > 0) is not (difference > 0):
        return Streak(least=difference, times=1, batch=batch), 0
    least = min(streak.least, difference, key=abs)
    times = streak.times + 1
    if times < (TIMES_IF_QUIET if streak.batch == batch else TIMES_IF_BUSY):
        return Streak(least=least, times=times, batch=batch), 0
    rest = difference - least
    return (Streak(least=rest, times=1, batch=batch) if rest else None), least


def _due(
    counts: Mapping[str, int], streaks: Mapping[str, Streak], step: Step | None, batch: str, now: datetime
) -> list[str]:
    """Return the counters whose time has come: the one that was begun first, then those in doubt."""
    minute = int(now.timestamp()) // _MINUTE
    names = list(counts)
    begun = [step.counter] if step is not None and step.counter in counts else []
    if begun:
        # round and round, so that no counter waits for ever behind those that are due every minute
        names = names[names.index(begun[0]) :] + names[: names.index(begun[0])]
    in_doubt = [name for name in names if name in streaks and streaks[name].batch == batch]
    on_time = [name for name in names if minute % (1 + abs(counts[name]) // ENTRIES_A_MINUTE) == 0]
    return list(dict.fromkeys((*begun, *in_doubt, *on_time)))


def _read(recount: Mapping[str, Any]) -> tuple[dict[str, Streak], Step | None]:
    streaks = {name: Streak(**streak) for name, streak in recount.get("streaks", {}).items()}
    step = recount.get("step")
    if step is None:
        return streaks, None
    start = step.get("start")
    return streaks, Step(**{**step, "start": None if start is None else tuple(start)})


def _written(streaks: Mapping[str, Streak], step: Step | None) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if streaks:
        written["streaks"] = {name: asdict(streak) for name, streak in streaks.items()}
    if step is not None:
        start = None if step.start is None else list(step.start)
        written["step"] = {name: value for name, value in {**asdict(step), "start": start}.items() if value}
    return written
