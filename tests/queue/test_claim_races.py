"""What becomes of claimers that come second, and how they keep out of one another's way."""

from __future__ import annotations

from jobqueue.job import JobPriority
from jobqueue.spread import CALM_SECONDS
from tests.support.callers import worker
from tests.support.workshop import MAILER, PRINTER, Workshop, ids

LOADER = worker("loader", "bulk")


def test_who_loses_the_race_takes_the_next(workshop: Workshop) -> None:
    first, second = workshop.enqueue(), workshop.enqueue()
    with workshop.just_before("UpdateItem", lambda: workshop.claim(PRINTER)):
        mine = workshop.claim(MAILER)
    assert mine.id == second.id
    assert workshop.get(first.id).worker_id == "key:printer"


def test_who_loses_every_race_is_told_that_there_is_no_job(workshop: Workshop) -> None:
    for _ in range(3):
        workshop.enqueue()
    rival = workshop.another_queue()

    def take_all() -> None:
        assert len(rival.claim_batch(PRINTER, 3)) == 3

    with workshop.just_before("UpdateItem", take_all):
        assert workshop.queue.claim(MAILER) is None


def test_a_lost_page_is_not_the_end_of_the_lane(workshop: Workshop) -> None:
    enqueued = [workshop.enqueue() for _ in range(15)]
    rival = workshop.another_queue()

    def take_a_page() -> None:
        assert ids(rival.claim_batch(PRINTER, 10)) == ids(enqueued[:10])

    with workshop.just_before("UpdateItem", take_a_page):
        assert workshop.claim(MAILER).id in ids(enqueued[10:])


def test_a_job_that_was_put_off_meanwhile_is_not_claimed(workshop: Workshop) -> None:
    job = workshop.enqueue()
    rival = workshop.another_queue()

    def put_off() -> None:
        assert rival.claim(PRINTER) is not None
        rival.release(PRINTER, job.id, delay_seconds=60)

    with workshop.just_before("UpdateItem", put_off):
        assert workshop.queue.claim(MAILER) is None
    assert workshop.item(job.id)["status"] == "pending"


def test_a_job_that_went_round_meanwhile_is_not_taken_by_what_was_seen_before(workshop: Workshop) -> None:
    job = workshop.enqueue()
    rival = workshop.another_queue()

    def go_round() -> None:
        assert rival.claim(PRINTER) is not None
        rival.release(PRINTER, job.id)  # back to the very same place

    with workshop.calls() as calls, workshop.just_before("UpdateItem", go_round):
        assert workshop.claim(MAILER).id == job.id  # by a second look, at what it is now
    assert calls["UpdateItem"] == 4
    assert workshop.item(job.id)["rev"] == 3


def contended(workshop: Workshop, jobs: int) -> list[str]:
    """Enqueue jobs, lose five races to a rival, and return the ids of what is left, in their order."""
    left = [workshop.enqueue(queue="bulk", priority=JobPriority.CRITICAL).id for _ in range(jobs)]
    rival = workshop.another_queue()

    def win() -> None:
        job = rival.claim(LOADER)
        assert job is not None
        left.remove(job.id)

    for _ in range(5):
        with workshop.just_before("UpdateItem", win):
            left.remove(workshop.claim(LOADER).id)
    return left


def places(workshop: Workshop, left: list[str]) -> list[int]:
    """Claim all that is left, and return how many older jobs each was preferred to."""
    found: list[int] = []
    while left:
        job = workshop.claim(LOADER)
        found.append(left.index(job.id))
        left.remove(job.id)
    return found


def test_claimers_that_meet_spread_out_and_come_back(workshop: Workshop) -> None:
    found = places(workshop, contended(workshop, 60))
    assert max(found[:10]) > 0
    assert found[-10:] == [0] * 10


def test_who_met_nobody_for_a_minute_takes_the_oldest_again(workshop: Workshop) -> None:
    left = contended(workshop, 30)
    workshop.clock.advance(CALM_SECONDS)
    assert places(workshop, left) == [0] * 20
