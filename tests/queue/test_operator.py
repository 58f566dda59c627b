"""What operators see of queues, and how they retry many jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from jobqueue import operating
from jobqueue.errors import InvalidRequest, QueueNotFound, Unavailable
from jobqueue.job import Job, JobPriority, JobStatus
from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.operating import QueueState, RetriedJobs
from tests.support.callers import admin
from tests.support.clock import START
from tests.support.office import Office
from tests.support.workshop import JOBS, MAILER, NOTE, OPS, SHOP

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WIDE = JobTypes(
    types=[JobType(name="note", payload=NOTE, queue="wide")], queues=[Queue(name="wide", shards=3)]
)


@pytest.fixture
def office(dynamodb: DynamoDBClient) -> Office:
    return Office(dynamodb)


def state(office: Office, queue: str = "default") -> QueueState:
    (found,) = [one for one in office.operator.overview(OPS).queues if one.name == queue]
    return found


def failed(office: Office, count: int = 1, **fields: Any) -> list[Job]:
    """Let jobs fail for good, one a second, and return them as they were enqueued."""
    jobs = []
    for _ in range(count):
        jobs.append(office.enqueue(max_retries=0, priority=JobPriority.CRITICAL, **fields))
        claimed = office.claim(queues=[jobs[-1].queue])
        office.queue.fail(MAILER, claimed.id)
        office.clock.advance(1)
    return jobs


def statuses(office: Office, jobs: list[Job]) -> list[str]:
    return [office.get(job.id).status.value for job in jobs]


def test_a_queue_without_jobs(office: Office) -> None:
    assert state(office) == QueueState(
        name="default",
        paused=False,
        waiting=dict.fromkeys(JobPriority, 0),
        others=dict.fromkeys(set(JobStatus) - {JobStatus.PENDING}, 0),
        oldest_ready_since=None,
    )


def test_what_is_in_a_queue(office: Office) -> None:
    failed(office, 2)
    office.enqueue(priority=JobPriority.MEDIUM)
    office.enqueue()
    office.claim()
    office.queue.cancel(SHOP, office.enqueue().id)
    office.enqueue(delay_seconds=60)
    office.follow()
    seen = state(office)
    assert seen.waiting == {**dict.fromkeys(JobPriority, 0), JobPriority.LOW: 2}
    assert seen.others == {
        JobStatus.RUNNING: 1,
        JobStatus.COMPLETED: 0,
        JobStatus.FAILED: 2,
        JobStatus.CANCELLED: 1,
    }


def test_a_count_is_never_below_zero(office: Office) -> None:
    office.queues.count("default", {"running": -1, "pending_low": -2}, "the wrong way round")
    assert state(office).others[JobStatus.RUNNING] == state(office).waiting[JobPriority.LOW] == 0


def test_the_oldest_job_of_all_priorities(office: Office) -> None:
    office.enqueue(delay_seconds=3600)
    assert state(office).oldest_ready_since is None
    office.clock.advance(5)
    office.enqueue(priority=JobPriority.CRITICAL)
    office.clock.advance(5)
    office.enqueue(priority=JobPriority.LOW)
    assert state(office).oldest_ready_since == START + timedelta(seconds=5)
    office.claim()
    assert state(office).oldest_ready_since == START + timedelta(seconds=10)
    office.claim()
    assert state(office).oldest_ready_since is None
    office.clock.advance(3600)
    assert state(office).oldest_ready_since == START + timedelta(seconds=3600)


def test_the_oldest_job_of_all_shards(dynamodb: DynamoDBClient) -> None:
    office = Office(dynamodb, WIDE)
    for _ in range(9):
        office.enqueue()
        office.clock.advance(1)
    assert state(office, "wide").oldest_ready_since == START
    for second in range(9):
        assert state(office, "wide").oldest_ready_since == START + timedelta(seconds=second)
        office.queue.cancel(SHOP, sorted(office.ids())[second])


def test_only_queues_that_are_granted_are_seen(office: Office) -> None:
    assert [one.name for one in office.operator.overview(OPS).queues] == ["bulk", "default"]
    assert [one.name for one in office.operator.overview(admin("ops", "bulk")).queues] == ["bulk"]
    with office.calls() as calls:
        assert office.operator.overview(admin("ops", "gone")).queues == ()
    assert calls == {}


def test_looking_costs_the_same_however_many_jobs_there_are(office: Office) -> None:
    costs = []
    office.enqueue()
    (model,) = office.client.scan(TableName=JOBS)["Items"]
    place = model["lane_order"]["S"].partition("#")[0]
    for number in range(1, 1000):
        job_id = f"job_1{number:025d}"
        item = model | {"id": {"S": job_id}, "lane_order": {"S": f"{place}#{job_id}"}}
        office.client.put_item(TableName=JOBS, Item=item)
        if number + 1 in (10, 1000):
            with office.calls() as calls:
                assert state(office).oldest_ready_since == START
            costs.append(calls)
    assert costs == 2 * [{"BatchGetItem": 1, "Query": 2 * len(JobPriority)}]


def test_failed_jobs_are_retried_the_oldest_first(office: Office) -> None:
    jobs = failed(office, 5)
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=3) == RetriedJobs(
        retried=3, skipped=0, more=True
    )
    assert statuses(office, jobs) == ["pending", "pending", "pending", "failed", "failed"]
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=3) == RetriedJobs(
        retried=2, skipped=0, more=False
    )
    assert statuses(office, jobs) == ["pending"] * 5
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=3) == RetriedJobs(
        retried=0, skipped=0, more=False
    )


def test_exactly_as_many_as_the_limit_leave_no_more(office: Office) -> None:
    failed(office, 3)
    assert not office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=3).more


def test_the_oldest_first_of_all_shards(dynamodb: DynamoDBClient) -> None:
    office = Office(dynamodb, WIDE)
    jobs = failed(office, 9)
    office.operator.retry_jobs(OPS, "wide", JobStatus.FAILED, limit=5)
    assert statuses(office, jobs) == ["pending"] * 5 + ["failed"] * 4


def test_cancelled_jobs_are_another_matter(office: Office) -> None:
    (dead,) = failed(office)
    job = office.enqueue()
    office.queue.cancel(SHOP, job.id)
    assert office.operator.retry_jobs(OPS, "default", JobStatus.CANCELLED, limit=9).retried == 1
    assert statuses(office, [dead, job]) == ["failed", "pending"]


def test_one_type_among_many_others(office: Office) -> None:
    others = failed(office, 30, type="eager")
    rare = failed(office, 1, type="patient")
    done = office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, type_name="patient", limit=1)
    assert done == RetriedJobs(retried=1, skipped=0, more=False)
    assert statuses(office, rare) == ["pending"]
    assert set(statuses(office, others)) == {"failed"}


def test_other_queues_are_left_alone(office: Office) -> None:
    (other,) = failed(office, queue="bulk")
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9).retried == 0
    assert statuses(office, [other]) == ["failed"]


def test_jobs_past_their_retention_count_as_absent(office: Office) -> None:
    failed(office)
    office.clock.advance(8 * 86_400)
    recent = failed(office)
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9).retried == 1
    assert statuses(office, recent) == ["pending"]


def test_jobs_that_fail_again_are_not_retried_for_ever(office: Office) -> None:
    first, second = failed(office, 2)
    since = office.clock.now
    assert office.operator.retry_jobs(
        OPS, "default", JobStatus.FAILED, limit=1, finished_before=since
    ) == RetriedJobs(retried=1, skipped=0, more=True)
    office.queue.fail(MAILER, office.claim().id)
    assert office.operator.retry_jobs(
        OPS, "default", JobStatus.FAILED, limit=9, finished_before=since
    ) == RetriedJobs(retried=1, skipped=0, more=False)
    assert statuses(office, [first, second]) == ["failed", "pending"]


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=9), timedelta(days=9000)])
def test_before_everything_there_is_nothing(office: Office, ago: timedelta) -> None:
    before = office.clock.now - ago
    failed(office)
    assert office.operator.retry_jobs(
        OPS, "default", JobStatus.FAILED, limit=9, finished_before=before
    ) == RetriedJobs(retried=0, skipped=0, more=False)


def test_a_job_that_somebody_else_retried_meanwhile_is_skipped(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating, "SIDE_BY_SIDE", 1)  # so that the first job is read first
    jobs = failed(office, 2)
    with office.just_before("GetItem", lambda: office.queue.retry(OPS, jobs[0].id)):
        done = office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9)
    assert done == RetriedJobs(retried=1, skipped=1, more=False)
    assert statuses(office, jobs) == ["pending", "pending"]


def test_a_step_ends_in_time_and_says_so(office: Office) -> None:
    jobs = failed(office, 30, type="eager") + failed(office, 3)
    time = iter(range(0, 10_000, 8))
    operator = office.an_operator(monotonic=lambda: float(next(time)))
    done = operator.retry_jobs(OPS, "default", JobStatus.FAILED, type_name="note", limit=1)
    assert done == RetriedJobs(retried=0, skipped=0, more=True)
    assert set(statuses(office, jobs)) == {"failed"}


def test_retries_that_begin_too_late_are_left_for_the_next_step(office: Office) -> None:
    jobs = failed(office, 3)
    times = iter([0.0, 1.0, 14.0, 15.0])
    operator = office.an_operator(monotonic=lambda: next(times))
    done = operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9)
    assert done == RetriedJobs(retried=1, skipped=0, more=True)
    assert sorted(statuses(office, jobs)) == ["failed", "failed", "pending"]


def test_a_busy_table(office: Office) -> None:
    jobs = failed(office, 3)
    with office.down("UpdateItem"), pytest.raises(Unavailable):
        office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9)
    with office.down("UpdateItem", after=1):
        done = office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9)
    assert done == RetriedJobs(retried=1, skipped=0, more=True)
    assert office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9).retried == 2
    assert statuses(office, jobs) == ["pending"] * 3


def test_lost_replies_retry_once(office: Office) -> None:
    (job,) = failed(office)
    with office.lost_reply("UpdateItem"):
        done = office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=9)
    assert done == RetriedJobs(retried=1, skipped=0, more=False)
    assert office.item(job.id)["rev"] == 3


@pytest.mark.parametrize("queue", ["nowhere", "bulk"])
def test_queues_that_are_not_there_or_not_granted(office: Office, queue: str) -> None:
    with pytest.raises(QueueNotFound):
        office.operator.retry_jobs(admin("ops", "default"), queue, JobStatus.FAILED, limit=1)


def test_a_type_that_is_not_declared(office: Office) -> None:
    with pytest.raises(InvalidRequest) as refused:
        office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=1, type_name="nothing")
    assert [error.field for error in refused.value.errors] == ["type"]
