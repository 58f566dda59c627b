"""Looking a job up."""

from __future__ import annotations

import pytest

from jobqueue.errors import CorruptItem, JobNotFound, Unavailable
from tests.support.callers import admin, producer, worker
from tests.support.workshop import OPS, SHOP, STORE, Workshop


def test_a_job_is_found_right_after_it_was_made(workshop: Workshop) -> None:
    job = workshop.enqueue(payload={"text": "Hello"})
    for caller in (SHOP, STORE, OPS, worker("mailer", "default")):
        assert workshop.queue.get(caller, job.id) == job


def test_a_job_of_a_queue_that_is_not_granted_is_not_found(workshop: Workshop) -> None:
    job = workshop.enqueue()
    for caller in (producer("shop", "bulk"), worker("mailer", "bulk"), admin("ops", "bulk")):
        with pytest.raises(JobNotFound):
            workshop.queue.get(caller, job.id)


def test_a_job_that_cannot_be_read_is_an_error_of_ours(workshop: Workshop) -> None:
    job = workshop.enqueue()
    workshop.spoil(job.id, payload="{")
    with pytest.raises(CorruptItem):
        workshop.get(job.id)


def test_a_table_out_of_reach_is_told(workshop: Workshop) -> None:
    job = workshop.enqueue()
    with workshop.down("GetItem"), pytest.raises(Unavailable):
        workshop.get(job.id)
