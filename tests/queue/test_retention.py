"""A finished job is kept for the retention; past it, it is absent wherever one looks."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from jobqueue.errors import JobNotFound
from jobqueue.job import Job
from jobqueue.queue import JobFilter, JobQueue, NewJob
from tests.support.clock import START
from tests.support.workshop import MAILER, OPS, RETENTION, SHOP, Workshop

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


def test_a_slow_retry_does_not_take_the_next_job_of_the_key_for_the_one_it_read(workshop: Workshop) -> None:
    first = workshop.enqueue(idempotency_key="k")
    workshop.queue.cancel(OPS, first.id)
    workshop.clock.advance(RETENTION.total_seconds())
    rival = workshop.another_queue()

    def use_the_key_again() -> None:
        workshop.clock.advance(2)
        rival.enqueue(SHOP, NewJob(type="note", queue="bulk", idempotency_key="k"))
        rival.cancel(OPS, first.id)

    with workshop.just_before("UpdateItem", use_the_key_again):
        assert workshop.queue.retry(OPS, first.id).queue == "bulk"
    assert workshop.claim(queues=["bulk"]).id == first.id
