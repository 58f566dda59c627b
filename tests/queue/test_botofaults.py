"""What tests inject between the SDK and DynamoDB does on this engine what it says."""

from __future__ import annotations

import pytest

from jobqueue.errors import Unavailable
from jobqueue.job import JobStatus
from tests.support.botofaults import Fault, Faults
from tests.support.workshop import MAILER, Workshop

ATTEMPTS = 4


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_a_request_lands_or_does_not(fault: Fault, workshop: Workshop) -> None:
    with (
        Faults.of(workshop.client).on("PutItem", fault, times=None) as injected,
        pytest.raises(Unavailable),
    ):
        workshop.enqueue()
    assert injected == {fault: ATTEMPTS}
    assert len(workshop.ids()) == fault.lands


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_the_sdk_tries_again(fault: Fault, workshop: Workshop) -> None:
    job = workshop.enqueue()
    faults = Faults.of(workshop.client)
    with faults.counted() as requests, faults.on("GetItem", fault, times=ATTEMPTS - 1, after=1):
        assert [workshop.get(job.id) for _ in range(3)] == [job] * 3
    assert requests() == 3 + ATTEMPTS - 1


def test_a_request_is_carried_out_once(workshop: Workshop) -> None:
    with Faults.of(workshop.client).counted():
        job = workshop.enqueue()
        assert workshop.claim(MAILER).id == job.id
        assert workshop.queue.complete(MAILER, job.id).status is JobStatus.COMPLETED
    assert workshop.item(job.id)["rev"] == 2
    assert len(workshop.item(job.id)["marks"]) == 1


def test_the_innermost_block_decides(workshop: Workshop) -> None:
    faults = Faults.of(workshop.client)
    with faults.on("PutItem", Fault.THROTTLED) as outer, faults.on("PutItem", Fault.BROKEN) as inner:
        workshop.enqueue()
    assert (inner[Fault.BROKEN], outer.total()) == (1, 0)
