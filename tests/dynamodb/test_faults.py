"""What becomes of calls that DynamoDB fails, one by one."""

from __future__ import annotations

import pytest

from jobqueue.callers import CallersTable
from jobqueue.errors import TooManyRequests, Unavailable
from jobqueue.item import to_item
from jobqueue.job import JobPriority, JobStatus
from jobqueue.queue import NewJob
from jobqueue.queues import REMEMBERED_BATCHES
from jobqueue.throttle import WINDOW_SECONDS, Throttle
from tests.dynamodb.outcomes import CALLERS, stored
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.support.botofaults import Fault, Faults
from tests.support.office import QUEUES, Office
from tests.support.tables import empty_tables
from tests.support.workshop import MAILER, PRINTER, SHOP, Workshop


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
        empty_tables(workshop.client)
        workshop = Workshop(workshop.client, ONE_QUEUE)
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


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
@pytest.mark.parametrize("times", [1, None])
def test_batches_that_could_not_be_forgotten_are_forgotten_later(
    fault: Fault, times: int | None, office: Office, faults: Faults
) -> None:
    known = [f"batch-{number}" for number in range(2 * REMEMBERED_BATCHES - 1)]
    item = {"queue": "default", "batches": known, "failed": 1}
    office.client.put_item(TableName=QUEUES, Item=to_item(item))
    with faults.on("UpdateItem", fault, times=times, after=1) as injected:
        assert office.queues.count("default", {"failed": 1}, "another")
    assert injected
    is_forgotten = times == 1 or fault.lands
    assert len(office.record().batches) == (REMEMBERED_BATCHES if is_forgotten else 2 * REMEMBERED_BATCHES)
    assert not office.queues.count("default", {"failed": 1}, "another")
    assert office.queues.count("default", {"failed": 1}, "the next one")
    assert len(office.record().batches) == REMEMBERED_BATCHES + is_forgotten
    assert office.counts() == {"failed": 3}


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
@pytest.mark.parametrize("times", [1, None])
def test_a_request_that_is_limited_may_count_twice_and_never_less(
    fault: Fault, times: int | None, office: Office, faults: Faults
) -> None:
    most = 3
    throttle = Throttle(CallersTable(office.client, CALLERS), most / WINDOW_SECONDS, office.clock)

    def passes() -> bool:
        try:
            throttle.admit(SHOP.id)
        except (TooManyRequests, Unavailable):
            return False
        return True

    with faults.on("UpdateItem", fault, times=times):
        passed = [passes()]
    passed += [passes() for _ in range(most)]
    counted = {(1, False): 0, (1, True): 1, (None, False): 0, (None, True): most}[times, fault.lands]
    assert passed[0] is (times == 1)
    assert sum(passed) == most - counted
