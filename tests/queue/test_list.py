"""Listing jobs: in a fixed order, filtered, page after page."""

from __future__ import annotations

from typing import Any

import pytest

from jobqueue.errors import InvalidCursor, InvalidRequest, QueueNotAllowed
from jobqueue.job import JobPriority, JobStatus, JobSummary
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.principal import Principal
from jobqueue.queue import JobFilter, JobPage, Position
from tests.support.callers import producer
from tests.support.clock import START
from tests.support.workshop import MAILER, NOTE, OPS, RETENTION, SHOP, Workshop

MOST_PAGES = 200


def page(
    workshop: Workshop,
    caller: Principal = OPS,
    *,
    limit: int = 10,
    after: Position | None = None,
    **wanted: Any,
) -> JobPage:
    return workshop.queue.list(caller, JobFilter(**wanted), limit=limit, after=after)


def listed(workshop: Workshop, caller: Principal = OPS, *, limit: int = 10, **wanted: Any) -> list[str]:
    """Follow the list to its end, and return the ids."""
    found: list[str] = []
    after: Position | None = None
    for _ in range(MOST_PAGES):
        one = page(workshop, caller, limit=limit, after=after, **wanted)
        assert len(one.jobs) <= limit
        found += [job.id for job in one.jobs]
        after = one.next
        if after is None:
            return found
    raise AssertionError("the list has no end")


def one_of_each(workshop: Workshop) -> dict[JobStatus, str]:
    """Make a job in every state, and return their ids."""
    made = {}
    for status in (JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.RUNNING):
        job = workshop.running()
        if status is JobStatus.COMPLETED:
            workshop.queue.complete(MAILER, job.id)
        elif status is JobStatus.FAILED:
            workshop.queue.fail(MAILER, job.id, discard=True)
        elif status is JobStatus.CANCELLED:
            workshop.queue.cancel(OPS, job.id)
            workshop.queue.release(MAILER, job.id)
        made[status] = job.id
    return made | {JobStatus.PENDING: workshop.enqueue().id}


def test_there_is_no_job(workshop: Workshop) -> None:
    assert page(workshop) == JobPage(jobs=(), next=None)


def test_a_summary_shows_what_the_index_carries(workshop: Workshop) -> None:
    job = workshop.running(priority=JobPriority.HIGH, payload={"secret": "CANARY"}, idempotency_key="k")
    workshop.clock.advance(1)
    workshop.queue.complete(MAILER, job.id, result="CANARY")
    (summary,) = page(workshop).jobs
    assert summary == JobSummary(
        id=job.id,
        type="note",
        queue="default",
        priority=JobPriority.HIGH,
        status=JobStatus.COMPLETED,
        retry_count=0,
        max_retries=3,
        available_at=START,
        created_by="key:shop",
        created_at=START,
        claimed_at=START,
        worker_id="key:mailer",
        finished_at=workshop.clock.now,
    )
    assert "CANARY" not in str(summary)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_states_come_in_a_fixed_order(limit: int, workshop: Workshop) -> None:
    made = one_of_each(workshop)
    order = ("pending", "running", "failed", "completed", "cancelled")
    assert listed(workshop, limit=limit) == [made[JobStatus(status)] for status in order]


@pytest.mark.parametrize("status", JobStatus)
def test_a_state_can_be_asked_for(status: JobStatus, workshop: Workshop) -> None:
    made = one_of_each(workshop)
    assert listed(workshop, status=status) == [made[status]]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_waiting_jobs_come_in_the_order_of_claiming(limit: int, workshop: Workshop) -> None:
    made = []
    for priority in ("low", "critical", "low", "medium", "high", "critical"):
        made.append(workshop.enqueue(priority=JobPriority(priority)))
        workshop.clock.advance(1)
    delayed = workshop.enqueue(delay_seconds=3600)
    expected = [made[index].id for index in (1, 5, 4, 3, 0, 2)]
    assert listed(workshop, limit=limit) == [*expected, delayed.id]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_finished_jobs_come_newest_first(limit: int, workshop: Workshop) -> None:
    made = []
    for _ in range(5):
        made.append(workshop.enqueue().id)
        workshop.clock.advance(1)
        workshop.queue.cancel(OPS, made[-1])
    assert listed(workshop, limit=limit, status=JobStatus.CANCELLED) == made[::-1]


@pytest.mark.parametrize("limit", [1, 4, 7, 25, 100])
def test_every_job_is_listed_once_over_all_shards(limit: int, workshop: Workshop) -> None:
    workshop.deploy(JobTypes([JobType(name="note", payload=NOTE)], [Queue(name="default", shards=3)]))
    made = [workshop.enqueue().id for _ in range(25)]
    found = listed(workshop, limit=limit)
    assert len(found) == 25
    assert set(found) == set(made)


def test_a_queue_can_be_asked_for(workshop: Workshop) -> None:
    workshop.enqueue()
    bulk = workshop.enqueue(queue="bulk")
    assert listed(workshop, queue="bulk") == [bulk.id]


def test_only_granted_queues_are_listed(workshop: Workshop) -> None:
    workshop.enqueue()
    bulk = workshop.enqueue(queue="bulk")
    mill = producer("mill", "bulk")
    assert listed(workshop, mill) == [bulk.id]
    with pytest.raises(QueueNotAllowed):
        page(workshop, mill, queue="default")


def test_an_unknown_queue_and_an_unknown_type_are_refused(workshop: Workshop) -> None:
    with pytest.raises(InvalidRequest) as refused:
        page(workshop, queue="removed", type="fax")
    assert {error.field for error in refused.value.errors} == {"queue", "type"}


def test_a_type_can_be_asked_for_however_few_there_are(workshop: Workshop) -> None:
    for _ in range(105):
        workshop.enqueue(type="eager")
    rare = workshop.enqueue(type="patient")
    assert listed(workshop, limit=10, type="patient") == [rare.id]
    assert len(listed(workshop, limit=10, type="eager")) == 105


def test_a_page_looks_at_so_many_lanes_and_then_says_where_it_goes_on(workshop: Workshop) -> None:
    workshop.deploy(JobTypes([JobType(name="note", payload=NOTE)], [Queue(name="default", shards=60)]))
    job = workshop.enqueue()  # behind 180 lanes of higher priorities
    with workshop.calls() as calls:
        first = page(workshop)
    assert (first.jobs, calls) == ((), {"Query": 99})
    assert first.next is not None
    assert listed(workshop) == [job.id]


def test_a_bad_entry_is_left_out(workshop: Workshop) -> None:
    bad, good = workshop.enqueue(), workshop.enqueue()
    workshop.spoil(bad.id, priority="high")
    assert listed(workshop) == [good.id]


def test_what_expires_while_one_pages_ends_the_lane(workshop: Workshop) -> None:
    for _ in range(4):
        workshop.clock.advance(1)
        workshop.queue.cancel(OPS, workshop.enqueue().id)
    waiting = workshop.enqueue()
    first = page(workshop, limit=3)
    assert first.jobs[0].id == waiting.id
    workshop.clock.advance(RETENTION.total_seconds() + 10)
    assert page(workshop, limit=3, after=first.next) == JobPage(jobs=(), next=None)


def test_paging_goes_on_where_it_was_though_jobs_came_and_went(workshop: Workshop) -> None:
    made = []
    for _ in range(6):
        made.append(workshop.enqueue().id)
        workshop.clock.advance(1)
    first = page(workshop, limit=3)
    workshop.claim()  # the first one
    workshop.queue.cancel(OPS, made[2])  # where the page ended
    second = page(workshop, limit=3, after=first.next, status=JobStatus.PENDING)
    assert [job.id for job in second.jobs] == made[3:]


@pytest.fixture
def failed(workshop: Workshop) -> Position:
    """A place in the list of what failed."""
    for _ in range(2):
        job = workshop.running(max_retries=0)
        workshop.queue.fail(MAILER, job.id)
    after = page(workshop, limit=1, status=JobStatus.FAILED).next
    assert after is not None
    return after


def test_a_place_of_another_filter_is_refused(failed: Position, workshop: Workshop) -> None:
    assert len(page(workshop, after=failed, status=JobStatus.FAILED).jobs) == 1
    for wanted in ({"status": JobStatus.PENDING}, {"queue": "bulk"}):
        with pytest.raises(InvalidCursor):
            page(workshop, after=failed, **wanted)


def test_a_place_in_a_queue_that_is_not_granted_is_refused(failed: Position, workshop: Workshop) -> None:
    with pytest.raises(InvalidCursor):
        page(workshop, producer("mill", "bulk"), after=failed)
    assert len(page(workshop, SHOP, after=failed).jobs) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"lane": "default/failed/1"},
        {"lane": ""},
        {"lane_order": ""},
        {"lane_order": "x"},
        {"lane_order": "2026-11-30T02:26:02.123456Z"},
        {"id": ""},
        {"id": "job_nope"},
        {"id": f"job_{9:026d}"},
        {"id": "job_nope", "lane_order": "2026-11-30T02:26:02.123456Z#job_nope"},
        {"lane_order": f"2026-13-30T02:26:02.123456Z#job_{9:026d}", "id": f"job_{9:026d}"},
    ],
)
def test_what_is_no_place_is_refused(changes: dict[str, str], failed: Position, workshop: Workshop) -> None:
    place = Position(**{"lane": failed.lane, "lane_order": failed.lane_order, "id": failed.id, **changes})
    with pytest.raises(InvalidCursor):
        page(workshop, after=place, status=JobStatus.FAILED)
