"""Lanes: what the index is partitioned and sorted by. Their names are stored, so they never change."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.job import JobPriority, JobStatus, keyed_job_id, new_job_id
from jobqueue.jobtype import JobTypes, Queue
from jobqueue.lanes import Lanes, order, shard_of, up_to
from tests.support.clock import START
from tests.support.samples import JOB_ID, a_job

LANES = Lanes(JobTypes([], [Queue(name="wide", shards=4)]))
SHARD = shard_of(JOB_ID, 4)
IDS = st.datetimes(
    START.replace(year=2000, tzinfo=None),
    START.replace(year=2100, tzinfo=None),
    timezones=st.just(UTC),
).map(new_job_id)
MOMENTS = st.timedeltas(timedelta(0), timedelta(days=3650)).map(lambda after: START + after)


@pytest.mark.parametrize(
    "priority, rank", [("low", "0"), ("medium", "10"), ("high", "20"), ("critical", "30")]
)
def test_where_a_job_waits(priority: str, rank: str) -> None:
    job = a_job(priority=JobPriority(priority))
    assert LANES.of_pending(job) == f"default/pending/{rank}/0"
    assert LANES.of_pending(job.evolve(queue="wide")) == f"wide/pending/{rank}/{SHARD}"


def test_where_a_job_runs() -> None:
    assert LANES.of_running(JOB_ID, "default") == "default/running/0"
    assert LANES.of_running(JOB_ID, "wide") == f"wide/running/{SHARD}"


@pytest.mark.parametrize("status", [status for status in JobStatus if status.is_finished])
def test_where_a_finished_job_is_kept(status: JobStatus) -> None:
    assert LANES.of_finished(JOB_ID, "default", status) == f"default/{status.value}/0"
    assert LANES.of_finished(JOB_ID, "wide", status) == f"wide/{status.value}/{SHARD}"


def test_all_lanes_of_a_state() -> None:
    assert LANES.pending("wide", JobPriority.HIGH) == tuple(f"wide/pending/20/{n}" for n in range(4))
    assert LANES.running("wide") == tuple(f"wide/running/{n}" for n in range(4))
    assert LANES.finished("wide", JobStatus.FAILED) == tuple(f"wide/failed/{n}" for n in range(4))


@given(IDS, st.integers(1, 1000))
def test_a_job_is_in_one_of_the_lanes_of_its_queue(job_id: str, shards: int) -> None:
    lanes = Lanes(JobTypes([], [Queue(name="bulk", shards=shards)]))
    job = a_job(id=job_id, queue="bulk")
    assert lanes.of_pending(job) in lanes.pending("bulk", JobPriority.LOW)
    assert lanes.of_running(job_id, "bulk") in lanes.running("bulk")
    assert lanes.of_finished(job_id, "bulk", JobStatus.FAILED) in lanes.finished("bulk", JobStatus.FAILED)


def test_a_queue_that_is_not_declared_any_more_has_one_shard() -> None:
    assert LANES.of_pending(a_job(queue="removed")) == "removed/pending/0/0"


@pytest.mark.parametrize("shards, critical", [(4, 16.27), (25, 51.18)])
@pytest.mark.parametrize("keyed", [False, True])
def test_shards_are_used_evenly(shards: int, critical: float, keyed: bool) -> None:
    jobs = 10_000
    ids = (
        keyed_job_id("key:shop", str(number)) if keyed else new_job_id(START + timedelta(milliseconds=number))
        for number in range(jobs)
    )
    used = Counter(shard_of(job_id, shards) for job_id in ids)
    expected = jobs / shards
    # what an even spread exceeds once in a thousand times; unkeyed ids are random, and get room
    chi_squared = sum((used[shard] - expected) ** 2 / expected for shard in range(shards))
    assert chi_squared < critical * (1 if keyed else 2)


def test_a_shard_never_changes() -> None:
    # a claim looks for a job in the lane that was named when it was put there
    assert [shard_of(JOB_ID, shards) for shards in (1, 2, 3, 4, 1000)] == [0, 0, 1, 0, 524]


@given(MOMENTS, MOMENTS, IDS, IDS)
def test_a_lane_is_in_the_order_of_time(one: datetime, other: datetime, first: str, second: str) -> None:
    if one != other:
        assert (order(one, first) < order(other, second)) == (one < other)
    else:
        assert (order(one, first) < order(other, second)) == (first < second)


@given(MOMENTS, MOMENTS, IDS)
def test_up_to_a_moment_is_whatever_is_not_later(place: datetime, moment: datetime, job_id: str) -> None:
    assert (order(place, job_id) <= up_to(moment)) == (place <= moment)
