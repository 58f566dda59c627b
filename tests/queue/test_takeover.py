"""A claim that finds no job takes over one whose holder went silent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobqueue.errors import JobNotHeld, Unavailable
from jobqueue.job import JobFailure, JobStatus
from jobqueue.spread import PAGE
from jobqueue.takeover import MOST_IN_VAIN
from tests.support.callers import worker
from tests.support.clock import START
from tests.support.log import log_lines
from tests.support.workshop import LEASE_SECONDS, MAILER, OPS, PRINTER, Workshop

SECOND = timedelta(seconds=1)


def test_what_a_takeover_writes(workshop: Workshop) -> None:
    first = workshop.running()
    workshop.queue.extend(MAILER, first.id, lease_seconds=LEASE_SECONDS, progress=[1, 2])
    before = workshop.item(first.id)
    workshop.lose_lease()
    job = workshop.claim(PRINTER)
    assert (before.pop("progress"), before["rev"]) == ("[1,2]", 1)
    assert workshop.item(job.id) == before | {
        "worker_id": "key:printer",
        "lease_token": "token-2",
        "lane_order": f"2026-11-30T02:28:07.123456Z#{job.id}",
        "lease_expires_at": "2026-11-30T02:28:07.123456Z",
        "claimed_at": "2026-11-30T02:27:07.123456Z",
        "updated_at": "2026-11-30T02:27:07.123456Z",
        "retry_count": 1,
        "error": "lease expired",
        "errors": [
            {
                "error": "lease expired",
                "failed_at": "2026-11-30T02:27:07.123456Z",
                "worker_id": "key:mailer",
            }
        ],
        "rev": 2,
    }


def test_a_takeover_has_its_line(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    with log_lines() as lines:
        workshop.claim(PRINTER)
    (line,) = lines
    assert (line["action"], line["outcome"], line["job_id"]) == ("take_over", "taken-over", job.id)
    assert (line["job_type"], line["queue"], line["attempt"]) == ("note", "default", 2)


def test_a_stale_holder_changes_nothing(workshop: Workshop) -> None:
    stale = workshop.running()
    workshop.lose_lease()
    fresh = workshop.claim(MAILER)  # a second process of the same worker
    before = workshop.item(fresh.id)
    for call in (workshop.queue.complete, workshop.queue.fail, workshop.queue.release, workshop.queue.extend):
        with pytest.raises(JobNotHeld):
            call(MAILER, stale.id, lease_token=stale.lease_token)
    assert workshop.item(fresh.id) == before
    done = workshop.queue.complete(MAILER, fresh.id, lease_token=fresh.lease_token)
    assert done.status is JobStatus.COMPLETED


@pytest.mark.parametrize("seconds, taken", [(60, False), (64.999999, False), (65, True), (3600, True)])
def test_a_lease_and_its_grace_must_be_over(seconds: float, taken: bool, workshop: Workshop) -> None:
    workshop.running()
    workshop.clock.advance(seconds)
    assert (workshop.queue.claim(PRINTER) is not None) == taken


def test_a_waiting_job_comes_before_a_lost_one(workshop: Workshop) -> None:
    lost = workshop.running()
    workshop.lose_lease()
    waiting = workshop.enqueue()
    assert workshop.claim(PRINTER).id == waiting.id
    assert workshop.claim(PRINTER).id == lost.id


def test_the_oldest_lost_job_is_taken(workshop: Workshop) -> None:
    ids = []
    for queue in ("bulk", "default", "bulk"):
        ids.append(workshop.running(queue=queue).id)
        workshop.clock.advance(1)
    workshop.lose_lease()
    assert [workshop.claim(PRINTER).id for _ in ids] == ids


def test_a_job_asked_to_cancel_is_not_taken(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    before = workshop.item(job.id)
    workshop.lose_lease()
    assert workshop.queue.claim(PRINTER) is None
    assert workshop.item(job.id) == before


def test_a_job_without_retries_is_not_taken_nor_in_the_way(workshop: Workshop) -> None:
    spent = workshop.running(max_retries=0)
    workshop.clock.advance(1)
    lost = workshop.running()
    workshop.lose_lease()
    assert workshop.claim(PRINTER).id == lost.id
    assert workshop.queue.claim(PRINTER) is None
    assert workshop.item(spent.id)["status"] == "running"


@pytest.mark.parametrize("obstacle", ["asked to cancel", "extended", "extended and asked to cancel"])
def test_what_cannot_be_taken_is_not_in_the_way(obstacle: str, workshop: Workshop) -> None:
    for _ in range(3):
        job = workshop.running()
        if "extended" in obstacle:
            workshop.queue.extend(MAILER, job.id, lease_seconds=3600)
        if "cancel" in obstacle:
            workshop.queue.cancel(OPS, job.id)
    workshop.clock.advance(1)
    lost = workshop.running()
    workshop.lose_lease()
    assert workshop.claim(PRINTER).id == lost.id
    assert workshop.queue.claim(PRINTER) is None


def test_pages_of_jobs_without_retries_are_not_in_the_way(workshop: Workshop) -> None:
    for _ in range(3 * PAGE):
        workshop.running(max_retries=0)
    workshop.clock.advance(1)
    lost = workshop.running()
    workshop.lose_lease()
    assert workshop.claim(PRINTER).id == lost.id
    assert workshop.queue.claim(PRINTER) is None


def test_one_claim_reads_so_much_in_vain_and_no_more(workshop: Workshop) -> None:
    for _ in range(MOST_IN_VAIN + 1):
        workshop.queue.cancel(OPS, workshop.running().id)
    workshop.lose_lease()
    with workshop.calls() as calls:
        assert workshop.queue.claim(PRINTER) is None
    assert (calls["GetItem"], calls["UpdateItem"]) == (MOST_IN_VAIN, 0)


def test_a_batch_takes_over_as_many_as_it_may(workshop: Workshop) -> None:
    lost = []
    for queue in ("bulk", "default", "bulk", "default"):
        lost.append(workshop.running(queue=queue).id)
        workshop.clock.advance(1)
    workshop.lose_lease()
    assert [job.id for job in workshop.queue.claim_batch(PRINTER, 3)] == lost[:3]
    assert [job.id for job in workshop.queue.claim_batch(PRINTER, 3)] == lost[3:]


def test_what_was_taken_over_is_handed_out_though_the_next_fails(workshop: Workshop) -> None:
    lost = [workshop.running().id, workshop.running().id]
    workshop.lose_lease()

    def fail() -> None:
        raise Unavailable

    with workshop.just_before("UpdateItem", lambda: None, fail):
        taken = workshop.queue.claim_batch(PRINTER, 2)
    assert len(taken) == 1
    assert taken[0].id in lost


def test_an_extended_lease_is_not_taken_but_filed_anew(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, lease_seconds=3600)
    before = workshop.item(job.id)
    workshop.lose_lease()
    with workshop.calls() as calls:
        assert workshop.queue.claim(PRINTER) is None
    assert calls["UpdateItem"] == 1
    assert workshop.item(job.id) == before | {"lane_order": f"2026-11-30T03:26:02.123456Z#{job.id}"}
    with workshop.calls() as calls:
        assert workshop.queue.claim(PRINTER) is None
    assert (calls["GetItem"], calls["UpdateItem"]) == (0, 0)  # the index tells enough now


def test_only_granted_and_named_queues_are_looked_at(workshop: Workshop) -> None:
    workshop.running()
    workshop.lose_lease()
    assert workshop.queue.claim(worker("loader", "bulk")) is None
    assert workshop.queue.claim(PRINTER, queues=["bulk"]) is None


def test_one_claimer_wins(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    with workshop.just_before("UpdateItem", lambda: workshop.claim(PRINTER)):
        assert workshop.queue.claim(MAILER) is None
    assert workshop.get(job.id).worker_id == "key:printer"
    assert workshop.get(job.id).retry_count == 1


@pytest.mark.parametrize("change", ["extend", "cancel", "complete"])
def test_what_moved_meanwhile_is_left_alone(change: str, workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()
    changes = {
        "extend": lambda: workshop.queue.extend(MAILER, job.id, lease_seconds=60),
        "cancel": lambda: workshop.queue.cancel(OPS, job.id),
        "complete": lambda: workshop.queue.complete(MAILER, job.id),
    }
    with workshop.just_before("UpdateItem", changes[change]):
        assert workshop.queue.claim(PRINTER) is None
    assert workshop.get(job.id).worker_id == "key:mailer"
    assert workshop.get(job.id).retry_count == 0


def test_a_lost_reply_is_no_lost_job(workshop: Workshop) -> None:
    workshop.running()
    workshop.lose_lease()
    with workshop.lost_reply("UpdateItem"):
        job = workshop.claim(PRINTER)
    assert (job.worker_id, job.retry_count) == ("key:printer", 1)
    assert workshop.queue.claim(PRINTER) is None


def test_an_item_that_cannot_be_read_does_not_stay_in_the_way(workshop: Workshop) -> None:
    bad = workshop.running()
    workshop.clock.advance(1)
    lost = workshop.running()
    workshop.spoil(bad.id, payload="{")
    workshop.lose_lease()
    assert workshop.claim(PRINTER).id == lost.id
    assert workshop.queue.claim(PRINTER) is None


def test_an_entry_of_a_job_that_is_gone_is_passed_over(workshop: Workshop) -> None:
    job = workshop.running()
    workshop.lose_lease()

    def delete() -> None:
        workshop.client.delete_item(TableName="jobs", Key={"id": {"S": job.id}})

    with workshop.just_before("GetItem", delete):
        assert workshop.queue.claim(PRINTER) is None
    assert workshop.ids() == set()


def test_a_table_out_of_reach_is_told(workshop: Workshop) -> None:
    workshop.running()
    workshop.lose_lease()
    with workshop.down("GetItem"), pytest.raises(Unavailable):
        workshop.queue.claim(PRINTER)


def test_failures_of_all_holders_are_kept(workshop: Workshop) -> None:
    job = workshop.running(max_retries=9)
    for number in range(7):
        workshop.lose_lease()
        job = workshop.claim(worker(f"w{number}"))
    assert job.errors == tuple(
        JobFailure(
            error="lease expired",
            failed_at=START + (number + 1) * (LEASE_SECONDS + 5) * SECOND,
            worker_id=f"key:w{number - 1}",
        )
        for number in range(2, 7)
    )
