"""The remembered index answers like the real one, and as it was some writes ago."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from jobqueue.errors import JobQueueError
from jobqueue.job import FINISHED, JobPriority
from tests.support.botofaults import Faults
from tests.support.indexhistory import OLDEST
from tests.support.workshop import MAILER, OPS, Workshop


def test_the_present_is_answered_like_the_real_index(workshop: Workshop, faults: Faults) -> None:
    rng, lag = random.Random(3), None
    with faults.stale_index(lambda: lag):
        jobs: list[str] = []
        for _ in range(2 * OLDEST):
            anything(workshop, jobs, rng)
            workshop.clock.advance(0.001)
        asked = [(lane, limit, newest) for lane in lanes(workshop) for limit in (2, 50) for newest in (0, 1)]
        found = [read(workshop, *question) for question in asked]
        lag = 0
        assert [read(workshop, *question) for question in asked] == found
    assert any(len(pages) > 2 for pages in found)


def test_the_past_is_answered(workshop: Workshop, faults: Faults) -> None:
    lag = 0
    with faults.stale_index(lambda: lag):
        jobs = [workshop.enqueue().id for _ in range(3)]
        workshop.claim()
        seen = {}
        for lag in range(6):
            seen[lag] = [job.id for page in read(workshop, "default/pending/0/0") for job in page]
    assert seen == {0: jobs[1:], 1: jobs, 2: jobs[:2], 3: jobs[:1], 4: [], 5: []}


@pytest.mark.parametrize("late", [1, 2])
def test_what_is_written_again_is_not_older(late: int, workshop: Workshop, faults: Faults) -> None:
    with faults.stale_index(lambda: late):
        job = workshop.enqueue()
        workshop.queue.cancel(OPS, job.id)
        workshop.queue.retry(OPS, job.id)
        seen = [entry.id for page in read(workshop, "default/pending/0/0") for entry in page]
    assert seen == ([] if late == 1 else [job.id])


def anything(workshop: Workshop, jobs: list[str], rng: random.Random) -> None:
    """Do one thing or another."""

    def enqueue() -> None:
        jobs.append(workshop.enqueue(priority=rng.choice(list(JobPriority))).id)

    if not jobs:
        enqueue()
    job_id = rng.choice(jobs)
    calls: list[Callable[[], object]] = [
        enqueue,
        lambda: workshop.queue.claim(MAILER),
        lambda: workshop.queue.claim(MAILER),
        lambda: workshop.queue.complete(MAILER, job_id),
        lambda: workshop.queue.fail(MAILER, job_id),
        lambda: workshop.queue.cancel(OPS, job_id),
        lambda: workshop.queue.retry(OPS, job_id),
    ]
    with suppress(JobQueueError):
        rng.choice(calls)()


def lanes(workshop: Workshop) -> list[str]:
    every = workshop.table().lanes
    return [
        *every.running("default"),
        *(lane for priority in JobPriority for lane in every.pending("default", priority)),
        *(lane for status in FINISHED for lane in every.finished("default", status)),
    ]


def read(workshop: Workshop, lane: str, limit: int = 50, newest_first: int = 0) -> list[Any]:
    """Read a lane page by page."""
    pages, start = [], None
    while True:
        page = workshop.table().index.read(lane, limit=limit, start=start, newest_first=bool(newest_first))
        pages.append([entry.summary for entry in page.entries])
        start = page.next
        if start is None:
            return [page for page in pages if page]
