"""Holding a job longer, and telling how far it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobqueue.errors import InvalidRequest, JobNotHeld
from jobqueue.job import JobStatus
from jobqueue.queue import Lease
from tests.support.clock import START
from tests.support.workshop import MAILER, OPS, PRINTER, Workshop

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("token", [True, False])
def test_what_a_heartbeat_writes(token: bool, workshop: Workshop) -> None:
    job = workshop.running()
    before = workshop.item(job.id)
    workshop.clock.advance(30)
    lease = workshop.queue.extend(
        MAILER, job.id, lease_token=job.lease_token if token else None, lease_seconds=90, progress={"done": 1}
    )
    assert workshop.item(job.id) == before | {
        "lease_expires_at": "2026-11-30T02:28:02.123456Z",
        "updated_at": "2026-11-30T02:26:32.123456Z",
        "progress": '{"done":1}',
    }
    assert lease == Lease(lease_expires_at=START + 120 * SECOND, cancel_requested=False)


@pytest.mark.parametrize("kind, lease", [("note", 60), ("patient", 600)])
def test_a_heartbeat_lasts_as_long_as_the_type_says(kind: str, lease: int, workshop: Workshop) -> None:
    job = workshop.running(type=kind)
    workshop.clock.advance(30)
    extended = workshop.queue.extend(MAILER, job.id, lease_token=job.lease_token)
    assert extended.lease_expires_at == START + (30 + lease) * SECOND


def test_a_heartbeat_never_shortens(workshop: Workshop) -> None:
    job = workshop.running(type="patient")
    before = workshop.item(job.id)
    lease = workshop.queue.extend(MAILER, job.id, lease_token=job.lease_token, lease_seconds=5)
    assert lease.lease_expires_at == START + 600 * SECOND
    assert workshop.item(job.id) == before


def test_a_heartbeat_from_a_clock_that_is_behind_does_not_shorten(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.clock.advance(-30)
    assert workshop.queue.extend(MAILER, job.id).lease_expires_at == START + 60 * SECOND


def test_the_same_lease_again_is_no_shorter_one(workshop: Workshop) -> None:
    job = workshop.running()
    assert workshop.queue.extend(MAILER, job.id, progress=1).lease_expires_at == START + 60 * SECOND
    assert workshop.get(job.id).progress == 1


def test_progress_is_stored_also_when_the_lease_is_long_enough(workshop: Workshop) -> None:
    job = workshop.running(type="patient")
    before = workshop.item(job.id)
    workshop.clock.advance(1)
    lease = workshop.queue.extend(MAILER, job.id, lease_seconds=5, progress=[1, 2])
    assert lease.lease_expires_at == START + 600 * SECOND
    assert workshop.item(job.id) == before | {
        "progress": "[1,2]",
        "updated_at": "2026-11-30T02:26:03.123456Z",
    }


@pytest.mark.parametrize("progress", [0, False, "", {}, [], {"step": 3}])
def test_any_json_is_progress(progress: Any, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, progress=progress)
    assert workshop.get(job.id).progress == progress
    workshop.queue.extend(MAILER, job.id)
    assert workshop.get(job.id).progress == progress


def test_progress_has_a_limit(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, progress="x" * 1022)
    before = workshop.item(job.id)
    with pytest.raises(InvalidRequest) as refused:
        workshop.queue.extend(MAILER, job.id, progress="x" * 1023)
    assert [(error.field, error.code) for error in refused.value.errors] == [("progress", "too_long")]
    assert workshop.item(job.id) == before


def test_a_late_heartbeat_counts_as_long_as_nobody_else_has_the_job(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.clock.advance(7200)
    lease = workshop.queue.extend(MAILER, job.id, lease_token=job.lease_token)
    assert lease.lease_expires_at == START + 7260 * SECOND
    assert workshop.queue.claim(PRINTER) is None


def test_the_holder_is_told_of_a_cancel_request(workshop: Workshop) -> None:
    job = workshop.running(type="patient")
    workshop.queue.cancel(OPS, job.id)
    assert workshop.queue.extend(MAILER, job.id).cancel_requested
    # also where the heartbeat changes nothing, or progress only
    assert workshop.queue.extend(MAILER, job.id, lease_seconds=5).cancel_requested
    assert workshop.queue.extend(MAILER, job.id, lease_seconds=5, progress=1).cancel_requested


@pytest.mark.parametrize("progress", [None, 50])
def test_who_lost_the_job_in_between_is_told_so(progress: Any, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    with (
        workshop.just_before("UpdateItem", lambda: workshop.claim(PRINTER)),
        pytest.raises(JobNotHeld),
    ):
        workshop.queue.extend(MAILER, job.id, progress=progress)
    assert workshop.get(job.id).progress is None


def test_who_lost_the_job_between_lease_and_progress_is_told_so(workshop: Workshop) -> None:
    job = workshop.running(type="patient")

    def finish() -> None:
        workshop.queue.complete(MAILER, job.id)

    with workshop.just_before("UpdateItem", lambda: None, finish), pytest.raises(JobNotHeld):
        workshop.queue.extend(MAILER, job.id, lease_seconds=5, progress=50)
    assert workshop.get(job.id).progress is None


def test_a_lost_reply_does_no_harm(workshop: Workshop) -> None:
    job = workshop.running()
    with workshop.lost_reply("UpdateItem"):
        lease = workshop.queue.extend(MAILER, job.id, lease_seconds=90, progress=1)
    assert lease.lease_expires_at == START + 90 * SECOND


def test_the_end_of_an_attempt_forgets_its_progress(workshop: Workshop) -> None:
    job = workshop.running(type="eager")
    workshop.queue.extend(MAILER, job.id, progress=1)
    assert workshop.queue.fail(MAILER, job.id).progress is None
    assert workshop.claim().progress is None


def test_progress_stays_on_a_finished_job(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, progress=99)
    done = workshop.queue.complete(MAILER, job.id)
    assert (done.status, done.progress) == (JobStatus.COMPLETED, 99)
