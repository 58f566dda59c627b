"""A rescue that is made twice, by two runs or by an SDK that lost the reply: what is told of it."""

from __future__ import annotations

import pytest

from jobqueue.job import JobStatus
from jobqueue.rescue import Found
from tests.support.workshop import OPS, Workshop


def test_rescuing_twice_does_no_harm(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    with workshop.just_before("UpdateItem", workshop.rescuer.run):
        assert workshop.rescuer.run() == {Found.GONE: 1}
    found = workshop.get(job.id)
    assert (found.retry_count, len(found.errors), workshop.item(job.id)["rev"]) == (1, 1, 2)


@pytest.mark.parametrize(
    "max_retries, cancel, found, status",
    [
        (3, False, Found.REQUEUED, JobStatus.PENDING),
        (0, False, Found.FAILED, JobStatus.FAILED),
        (3, True, Found.CANCELLED, JobStatus.CANCELLED),
    ],
)
def test_a_lost_reply_is_told_as_what_was_done_and_does_not_count_twice(
    max_retries: int, cancel: bool, found: Found, status: JobStatus, workshop: Workshop
) -> None:
    job = workshop.running(max_retries=max_retries)
    if cancel:
        workshop.queue.cancel(OPS, job.id)
    workshop.lose_lease()
    with workshop.calls() as calls, workshop.lost_reply("UpdateItem"):
        assert workshop.rescuer.run() == {found: 1}
    assert (calls["GetItem"], calls["UpdateItem"]) == (1, 2)  # the second one is sent by the SDK
    assert workshop.found == [(found, job.id)]
    rescued = workshop.get(job.id)
    assert (rescued.status, len(rescued.errors)) == (status, 1)
    assert rescued.retry_count == (1 if found is Found.REQUEUED else 0)


@pytest.mark.parametrize("max_retries", [0, 1])
def test_what_another_run_did_just_before_is_not_told_as_ones_own(
    max_retries: int, workshop: Workshop
) -> None:
    workshop.running(max_retries=max_retries)
    workshop.lose_lease()

    def elsewhere() -> None:
        workshop.clock.advance(0.000001)
        workshop.rescuer.run()

    with workshop.just_before("UpdateItem", elsewhere):
        assert workshop.rescuer.run() == {Found.GONE: 1}
