"""What is done with the changes of jobs: they are announced, counted and measured, in this order.

A stream serves two readers well, and the worker function is one. So all the rest is one function.

What cannot be announced is not counted either: the stream sends the batch again from there on. A batch that
was counted and comes again is known by its digest; when it comes in other pieces, its counts are wrong until
a recount (see `jobqueue.recounting`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jobqueue import telemetry
from jobqueue.changes import Change, Happened, batch_digest, read_change
from jobqueue.errors import CorruptItem, Unavailable
from jobqueue.job import JobSummary
from jobqueue.jobtype import JobTypes
from jobqueue.metrics import Measures, Metric, labels
from jobqueue.queues import QueuesTable, counter

ACTION = "follow_jobs"

_METRICS: Mapping[Happened | None, tuple[Metric, ...]] = {
    Happened.ENQUEUED: (Metric.ENQUEUED,),
    Happened.CLAIMED: (Metric.CLAIMED,),
    # the claim that took it over has counted the rescue
    Happened.TAKEN_OVER: (Metric.RETRIED, Metric.CLAIMED),
    Happened.COMPLETED: (Metric.COMPLETED,),
    Happened.RETRIED: (Metric.RETRIED,),
    Happened.FAILED: (Metric.FAILED,),
}


class Announces(Protocol):
    """Somebody who is told what happened."""

    def announce(self, changes: Sequence[Change]) -> int:
        """Tell what happened; return how many of the changes are told, from the first one on."""


class Follower:
    """Follows the stream of the jobs table.

    Parameters
    ----------
    queues : QueuesTable
        Keeps the counts.
    bus : Announces
        Is told what happened.
    job_types : JobTypes
        The names that metrics may have.
    """

    def __init__(self, queues: QueuesTable, bus: Announces, job_types: JobTypes) -> None:
        self._queues = queues
        self._bus = bus
        self._job_types = job_types

    def follow(self, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Do what is to be done with a batch of records.

        Returns
        -------
        str or None
            The sequence number from which on the batch must come again; None if it need not.
        """
        changes = list(_readable(records))
        told = self._bus.announce(changes)
        try:
            self._count(changes[:told])
        except Unavailable:
            # all of it again, in the same pieces: what was counted is known by them
            telemetry.decision(ACTION, "not-counted")
            return changes[0].sequence
        if told == len(changes):
            return None
        telemetry.decision(ACTION, "not-announced")
        return changes[told].sequence

    def _count(self, changes: Sequence[Change]) -> None:
        measures = Measures()
        for queue, ours in _by_queue(changes).items():
            moved = _moved(queue, ours)
            if not moved or self._queues.count(queue, moved, batch_digest(ours)):
                for change in ours:
                    self._measure(queue, change, measures)
            else:
                telemetry.decision(ACTION, "counted-before", queue=queue)
        measures.write()

    def _measure(self, queue: str, change: Change, measures: Measures) -> None:
        if change.after is None or change.after.queue != queue:
            return
        names = labels(self._job_types, queue, change.after.type)
        for metric in _METRICS.get(change.happened, ()):
            measures.add(metric, 1, **names)
        if change.lease_ran_out and change.happened is not Happened.TAKEN_OVER:
            measures.add(Metric.RESCUED, 1, **names)
        if change.waited is not None:
            measures.add(Metric.WAIT, change.waited.total_seconds(), **names)
        if change.ran is not None:
            measures.add(Metric.RUN, change.ran.total_seconds(), **names)


def _readable(records: Sequence[Mapping[str, Any]]) -> list[Change]:
    changes = []
    for record in records:
        try:
            changes.append(read_change(record))
        except CorruptItem:
            telemetry.decision(ACTION, "corrupt-item")  # nothing will ever read it; recounts see its lane
    return changes


def _by_queue(changes: Sequence[Change]) -> dict[str, list[Change]]:
    """Return the changes of each queue; a job whose key was used again may have come from another one."""
    by_queue: dict[str, list[Change]] = {}
    for change in changes:
        for queue in dict.fromkeys(job.queue for job in (change.before, change.after) if job is not None):
            by_queue.setdefault(queue, []).append(change)
    return by_queue


def _moved(queue: str, changes: Sequence[Change]) -> dict[str, int]:
    """Return by how much each counter of a queue changes."""
    moved: Counter[str] = Counter()
    for change in changes:
        moved.subtract(_counters(queue, change.before))
        moved.update(_counters(queue, change.after))
    return {name: change for name, change in moved.items() if change}


def _counters(queue: str, job: JobSummary | None) -> list[str]:
    return [counter(job.status, job.priority)] if job is not None and job.queue == queue else []
