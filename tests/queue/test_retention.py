"""A finished job is kept for the retention; past it, it is absent wherever one looks."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from jobqueue.errors import JobNotFound
from jobqueue.job import Job
from jobqueue.queue import JobFilter, JobQueue
from tests.support.clock import START
from tests.support.workshop import MAILER, OPS, RETENTION, Workshop

END = math.ceil((START + RETENTION).timestamp())


def complete(workshop: Workshop, job: Job) -> None:
    workshop.queue.complete(MAILER, job.id)


def fail(workshop: Workshop, job: Job) -> None:
    workshop.queue.fail(MAILER, job.id, discard=True)


def cancel(workshop: Workshop, job: Job) -> None:
    workshop.queue.cancel(OPS, job.id)
    workshop.queue.release(MAILER, job.id)


def listed(workshop: Workshop) -> list[str]:
    return [job.id for job in workshop.queue.list(OPS, JobFilter(), limit=10).jobs]


@pytest.mark.parametrize("end", [complete, fail, cancel])
def test_a_job_expires_when_its_last_second_is_over(
    end: Callable[[Workshop, Job], None], workshop: Workshop
) -> None:
    job = workshop.running()
    end(workshop, job)
    assert workshop.item(job.id)["expires_at"] == END

    workshop.clock.advance(END - START.timestamp() + 0.999)
    assert workshop.get(job.id).id == job.id
    assert listed(workshop) == [job.id]

    workshop.clock.advance(0.001)
    calls: list[Callable[[JobQueue], object]] = [
        lambda queue: queue.get(OPS, job.id),
        lambda queue: queue.cancel(OPS, job.id),
        lambda queue: queue.retry(OPS, job.id),
    ]
    for call in calls:
        with pytest.raises(JobNotFound):
            call(workshop.queue)
    assert listed(workshop) == []
    assert workshop.ids() == {job.id}  # DynamoDB deletes late


def test_what_is_not_finished_is_kept_for_ever(workshop: Workshop) -> None:
    running, waiting = workshop.running(), workshop.enqueue(delay_seconds=31_536_000)
    workshop.clock.advance(100 * RETENTION.total_seconds())
    assert "expires_at" not in workshop.item(running.id)
    assert "expires_at" not in workshop.item(waiting.id)
    assert set(listed(workshop)) == {running.id, waiting.id}
