"""Every write of the queue, with every fault, at every moment."""

from __future__ import annotations

from typing import Any

import pytest

from jobqueue.errors import JobQueueError, Unavailable
from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.queue import NewJob
from jobqueue.rescue import Found
from tests.dynamodb.conftest import empty
from tests.dynamodb.scenarios import ANOTHER, ONE_QUEUE, SAME, SCENARIOS, Scenario
from tests.support.botofaults import Fault, Faults
from tests.support.workshop import MAILER, PRINTER, SHOP, Workshop

MINTED = frozenset({"lease_token", "marks", "enqueue_token"})
"""What a call that is made again writes otherwise than the first one would have."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_one_fault_changes_nothing(
    scenario: Scenario, fault: Fault, workshop: Workshop, faults: Faults
) -> None:
    wanted, items, requests = undisturbed(scenario, workshop, faults)
    for moment in range(requests):
        workshop = anew(workshop)
        found = scenario.prepare(workshop)
        with faults.on_request(moment, fault) as injected:
            answer = scenario.call(workshop, found)
        assert injected.total() == 1
        assert answer == wanted or (fault.lands and answer == scenario.unsure)
        assert stored(workshop) == items


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_an_outage_leaves_a_job_whole_and_the_call_can_be_made_again(
    scenario: Scenario, fault: Fault, workshop: Workshop, faults: Faults
) -> None:
    wanted, after, requests = undisturbed(scenario, workshop, faults)
    for moment in range(requests):
        workshop = anew(workshop)
        found = scenario.prepare(workshop)
        before = stored(workshop)
        with faults.on_request(moment, fault, times=None):
            assert is_told(scenario, workshop, found)
        now = stored(workshop)
        assert now == before or (fault.lands and now == after)
        again = outcome(scenario, workshop, found)
        if scenario.again is ANOTHER:
            assert len(stored(workshop)) == len(now) + 1
        elif now == before:
            assert without_minted(again) == without_minted(wanted)
            assert without_minted(stored(workshop)) == without_minted(after)
        else:
            assert again == (wanted if scenario.again is SAME else scenario.again)
            assert stored(workshop) == after


def test_a_lost_claim_runs_into_its_lease(workshop: Workshop, faults: Faults) -> None:
    enqueued = workshop.enqueue()
    with faults.on("UpdateItem", Fault.LOST_REPLY, times=None), pytest.raises(Unavailable):
        workshop.queue.claim(MAILER)
    assert workshop.get(enqueued.id).status is JobStatus.RUNNING
    assert workshop.queue.claim(MAILER) is None
    workshop.lose_lease()
    job = workshop.claim(PRINTER)
    assert (job.id, job.retry_count) == (enqueued.id, 1)


def test_fault_1_lost_reply_of_a_claim(workshop: Workshop, faults: Faults) -> None:
    enqueued = workshop.enqueue()
    with faults.on("UpdateItem", Fault.LOST_REPLY):
        job = workshop.claim(MAILER)
    assert (job.id, job.worker_id, job.retry_count) == (enqueued.id, MAILER.id, 0)
    assert workshop.get(job.id) == job


@pytest.mark.parametrize("key", ["K", None])
def test_fault_2_lost_reply_of_an_enqueue(key: str | None, workshop: Workshop, faults: Faults) -> None:
    with faults.on("PutItem", Fault.LOST_REPLY):
        enqueued = workshop.queue.enqueue(SHOP, NewJob(type="note", idempotency_key=key))
    assert enqueued.created
    assert workshop.ids() == {enqueued.job.id}


def test_fault_8_a_stale_index(workshop: Workshop, faults: Faults) -> None:
    with faults.stale_index(lambda: 5):
        jobs = [workshop.enqueue() for _ in range(6)]
        with workshop.calls() as calls:
            assert [workshop.claim(PRINTER).id for _ in range(5)] == [job.id for job in jobs[:5]]
        assert calls["UpdateItem"] == 5  # it knows what it took, though the index shows it still
        another = workshop.another_queue(ONE_QUEUE)
        with workshop.calls() as calls:
            claimed = another.claim(MAILER)
        assert claimed is not None
        assert claimed.id == jobs[5].id
        assert calls["UpdateItem"] <= 6  # each of the stale ones is tried once at most
        assert another.claim(MAILER) is None
        assert workshop.get(jobs[5].id).worker_id == MAILER.id


def test_fault_23_throttling(workshop: Workshop, faults: Faults) -> None:
    with faults.on("PutItem", Fault.THROTTLED, times=3) as injected:
        job = workshop.enqueue()
    assert injected[Fault.THROTTLED] == 3
    before = stored(workshop)
    with faults.on("UpdateItem", Fault.THROTTLED, times=None) as injected, pytest.raises(Unavailable):
        workshop.queue.claim(MAILER)
    assert injected[Fault.THROTTLED] == 4
    assert stored(workshop) == before
    assert workshop.claim(MAILER).id == job.id


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_a_batch_hands_out_all_that_it_knows_of(fault: Fault, workshop: Workshop, faults: Faults) -> None:
    for moment in (0, 1, 2, 4, 6):  # one look, then one, three and six writes at once
        workshop = anew(workshop)
        jobs = [workshop.enqueue(priority=JobPriority.CRITICAL) for _ in range(10)]
        with faults.on_request(moment, fault, times=None):
            try:
                claimed = workshop.queue.claim_batch(MAILER, 10)
            except Unavailable:
                claimed = ()
        running = {job.id for job in jobs if workshop.get(job.id).status is JobStatus.RUNNING}
        assert {job.id for job in claimed} <= running
        # what landed unheard waits for its lease; nothing else is held
        assert fault.lands or {job.id for job in claimed} == running
        left = workshop.queue.claim_batch(PRINTER, 10)
        assert {job.id for job in left} == {job.id for job in jobs} - running


def undisturbed(scenario: Scenario, workshop: Workshop, faults: Faults) -> tuple[Any, dict[str, Any], int]:
    """Return what a call answers, what is stored then, and how many requests it took, without a fault."""
    workshop = anew(workshop)
    found = scenario.prepare(workshop)
    with faults.counted() as requests:
        answer = scenario.call(workshop, found)
        took = requests()
    return answer, stored(workshop), took


def anew(workshop: Workshop) -> Workshop:
    """Begin again with no jobs, and with the same time, ids and tokens."""
    empty(workshop)
    return Workshop(workshop.client, ONE_QUEUE)


def stored(workshop: Workshop) -> dict[str, Any]:
    """Return all items by id."""
    return {item["id"]["S"]: item for item in workshop.client.scan(TableName="jobs")["Items"]}


def outcome(scenario: Scenario, workshop: Workshop, found: Any) -> Any:
    """Return what a call answers, or the class of its error."""
    try:
        return scenario.call(workshop, found)
    except JobQueueError as error:
        return type(error)


def is_told(scenario: Scenario, workshop: Workshop, found: Any) -> bool:
    """Call, and tell whether the caller hears that DynamoDB is out of reach."""
    answer = outcome(scenario, workshop, found)
    return answer is Unavailable or (isinstance(answer, list) and answer == [Found.BROKEN])


def without_minted(found: Any) -> Any:
    """Leave out of a job, or of items, what each call makes anew."""
    if isinstance(found, Job):
        return found.evolve(lease_token=None)
    if isinstance(found, dict):
        return {
            job_id: {name: value for name, value in item.items() if name not in MINTED}
            for job_id, item in found.items()
        }
    return found
