"""The checker of histories finds each kind of wrong, and only that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobqueue.job import Job, JobStatus
from tests.dynamodb.checker import violations
from tests.dynamodb.history import Call, Kind, Sight, sights
from tests.support.clock import START
from tests.support.samples import a_job

LEASE = timedelta(seconds=60)
NEW = a_job(id="job_A", max_retries=1)
COMPLETED = NEW.evolve(status=JobStatus.COMPLETED)
History = list[Call]


def call(kind: Kind, at: int, job: Job = NEW, token: str | None = None, caller: str = "one") -> Call:
    """Make a call that took from `at` to the next second."""
    return Call(start=at, end=at + 1, caller=caller, kind=kind, job_id=job.id, token=token, job=job)


def claim(at: int, token: str, *, retries: int = 0, caller: str = "one") -> Call:
    """Claim the job `at` seconds after the beginning, for a minute."""
    moment = START + timedelta(seconds=at)
    job = NEW.evolve(status=JobStatus.RUNNING, claimed_at=moment, retry_count=retries, lease_token=token)
    return replace(call(Kind.CLAIM, at, job, token, caller), expires_at=moment + LEASE)


def failed(at: int, token: str, status: JobStatus, *, retries: int, caller: str = "one") -> Call:
    return call(Kind.FAIL, at, NEW.evolve(status=status, retry_count=retries), token, caller)


def life() -> History:
    """Return a life with a failure and a release, which are nobody's fault."""
    return [
        call(Kind.ENQUEUE, 0),
        claim(10, "t1"),
        replace(call(Kind.EXTEND, 12, token="t1"), job=None, expires_at=START + 2 * LEASE),
        failed(20, "t1", JobStatus.PENDING, retries=1),
        claim(30, "t2", retries=1, caller="two"),
        call(Kind.RELEASE, 40, NEW.evolve(retry_count=1), "t2", "two"),
        claim(50, "t3", retries=1),
        call(Kind.COMPLETE, 60, NEW.evolve(status=JobStatus.COMPLETED, retry_count=1), "t3"),
    ]


def run_out() -> History:
    """Return a life in which leases run out until the retries are spent, and which is begun anew."""
    return [
        call(Kind.ENQUEUE, 0),
        claim(0, "t1"),
        claim(65, "t2", retries=1, caller="two"),
        call(Kind.RETRY, 200),
        claim(210, "t3"),
        call(Kind.COMPLETE, 220, COMPLETED, "t3"),
    ]


def refused(kind: Kind, at: int, token: str, *, caller: str = "one") -> Call:
    """Refuse a call that a holder made `at` seconds after the beginning."""
    return replace(
        call(kind, at, token=token, caller=caller), job=None, refused_at=START + timedelta(seconds=at)
    )


def rescued(at: int, *, retries: int, status: JobStatus = JobStatus.PENDING) -> Call:
    job = NEW.evolve(status=status, retry_count=retries, updated_at=START + timedelta(seconds=at))
    return call(Kind.RESCUE, at, job, caller="rescuer")


def come_back_late() -> History:
    """Return a life whose first two holders come back when the next one has the job."""
    return [
        call(Kind.ENQUEUE, 0),
        claim(0, "t1"),
        rescued(66, retries=1),
        refused(Kind.EXTEND, 68, "t1"),
        claim(70, "t2", retries=1, caller="two"),
        refused(Kind.COMPLETE, 72, "t1"),
        call(Kind.RETRY, 200),
        claim(210, "t3"),
        refused(Kind.FAIL, 215, "t2", caller="two"),
        call(Kind.COMPLETE, 220, COMPLETED, "t3"),
        refused(Kind.RELEASE, 221, "t3"),
    ]


def ending(status: JobStatus, retries: int = 0) -> dict[str, Job]:
    return {NEW.id: NEW.evolve(status=status, retry_count=retries)}


DONE = ending(JobStatus.COMPLETED, 1)


@pytest.mark.parametrize(
    "history, final",
    [
        (life(), DONE),
        (run_out(), ending(JobStatus.COMPLETED)),
        (run_out()[:3], ending(JobStatus.FAILED, 1)),
        ([call(Kind.ENQUEUE, 0), call(Kind.CANCEL, 1)], ending(JobStatus.CANCELLED)),
        ([*run_out()[:2], call(Kind.CANCEL, 70)], ending(JobStatus.CANCELLED, 1)),
        (come_back_late(), ending(JobStatus.COMPLETED)),
        ([], {}),
    ],
    ids=["life", "run out", "failed", "cancelled", "rescued and cancelled", "too late", "nothing"],
)
def test_a_right_history_is_right(history: History, final: dict[str, Job]) -> None:
    assert violations(history, final) == []


def without(kind: Kind, history: History | None = None) -> History:
    return [call for call in history or life() if call.kind is not kind]


def changed(at: int, history: History | None = None, **changes: Any) -> History:
    """Return a history with one call changed."""
    calls = list(history or life())
    calls[at] = replace(calls[at], **changes)
    return calls


def with_retries(at: int, retries: int, history: History) -> History:
    job = history[at].job
    assert job is not None
    return changed(at, history, job=job.evolve(retry_count=retries))


WRONG: dict[str, tuple[Callable[[], History], dict[str, Job], str]] = {
    "lost": (life, {}, "lost"),
    "from nowhere": (lambda: without(Kind.ENQUEUE), DONE, "enqueued by nobody"),
    "two holders": (
        lambda: without(Kind.FAIL),
        DONE,
        "held under t1 and t2 at once",
    ),
    "taken over too early": (
        lambda: [*run_out()[:2], claim(64, "t2", retries=1), *run_out()[3:]],
        ending(JobStatus.COMPLETED),
        "held under t1 and t2 at once",
    ),
    "taken over though extended": (
        lambda: [
            *run_out()[:2],
            replace(call(Kind.EXTEND, 30, token="t1"), job=None, expires_at=START + 2 * LEASE),
            *run_out()[2:],
        ],
        ending(JobStatus.COMPLETED),
        "held under t1 and t2 at once",
    ),
    "a ghost": (
        lambda: [*life(), replace(call(Kind.EXTEND, 35, token="t1"), expires_at=START + LEASE)],
        DONE,
        "extend under t1, after t2 had been given",
    ),
    "one lease for two": (
        lambda: changed(4, token="t1"),
        DONE,
        "the lease t1 was given twice",
    ),
    "a lease of nobody": (
        lambda: changed(3, token="t9"),
        DONE,
        "fail under the lease t9, which nobody was given",
    ),
    "another's lease": (
        lambda: changed(3, caller="two"),
        DONE,
        "fail by two of job_A under the lease of one",
    ),
    "a failure not counted": (
        lambda: with_retries(3, 0, with_retries(4, 0, life())),
        DONE,
        "failed at 0 retries and then had 0",
    ),
    "a release that was counted": (
        lambda: with_retries(6, 2, life()),
        DONE,
        "claimed with 2 retries under t3, 1 were seen",
    ),
    "a lost lease not counted": (
        lambda: with_retries(2, 0, run_out()),
        ending(JobStatus.COMPLETED),
        "claimed with 0 retries under t2, 1 were seen",
    ),
    "retries from nowhere": (
        lambda: with_retries(1, 1, life()),
        DONE,
        "had retries before it was ever claimed",
    ),
    "claimed after its end": (
        lambda: without(Kind.RETRY, run_out()),
        ending(JobStatus.COMPLETED),
        "claimed under t3 though it had ended under t2",
    ),
    "completed twice": (
        lambda: [*life(), claim(70, "t4", retries=1), call(Kind.COMPLETE, 80, COMPLETED, "t4")],
        ending(JobStatus.COMPLETED),
        "completed more than once",
    ),
    "completed in vain": (life, ending(JobStatus.FAILED, 1), "completed, and in the end failed"),
    "completed by nobody": (lambda: life()[:-1], DONE, "completed by nobody"),
    "cancelled by nobody": (lambda: life()[:-1], ending(JobStatus.CANCELLED, 1), "cancelled by nobody"),
    "failed too early": (lambda: life()[:4], ending(JobStatus.FAILED, 1), "failed by nobody"),
    "left waiting": (lambda: life()[:4], ending(JobStatus.PENDING, 1), "pending by nobody"),
    "the last count of a cancelled job": (
        lambda: [*run_out()[:2], call(Kind.CANCEL, 70)],
        ending(JobStatus.CANCELLED, 2),
        "ended with 2 retries, 1 were seen",
    ),
    "refused in the lease": (
        lambda: [*life()[:2], refused(Kind.COMPLETE, 15, "t1"), *life()[2:]],
        DONE,
        "complete under t1 was refused while the lease lasted",
    ),
    "refused in the lease, as extended": (
        lambda: [*life()[:3], refused(Kind.EXTEND, 18, "t1"), *life()[3:]],
        DONE,
        "extend under t1 was refused while the lease lasted",
    ),
    "refused in the grace": (
        lambda: [*run_out()[:2], refused(Kind.EXTEND, 64, "t1"), *run_out()[2:]],
        ending(JobStatus.COMPLETED),
        "extend under t1 was refused while the lease lasted",
    ),
    "refused for no reason": (
        lambda: [*run_out()[:2], refused(Kind.FAIL, 100, "t1")],
        ending(JobStatus.FAILED, 1),
        "fail under t1 was refused, though nobody had taken the job",
    ),
    "refused before it was taken": (
        lambda: [*run_out()[:2], refused(Kind.FAIL, 100, "t1"), claim(110, "t2", retries=1)],
        ending(JobStatus.FAILED, 1),
        "fail under t1 was refused, though nobody had taken the job",
    ),
    "rescued too early": (
        lambda: [*come_back_late()[:2], rescued(64, retries=1), *come_back_late()[3:]],
        ending(JobStatus.COMPLETED),
        "rescued under t1 while the lease lasted",
    ),
    "rescued though it had ended": (
        lambda: [*life()[:4], rescued(120, retries=1)],
        ending(JobStatus.FAILED, 1),
        "rescued under t1, though it had ended by fail",
    ),
    "rescued twice": (
        lambda: [*come_back_late()[:3], rescued(67, retries=1), *come_back_late()[3:]],
        ending(JobStatus.COMPLETED),
        "rescued under t1 more than once",
    ),
    "a rescue that was not counted": (
        lambda: [*come_back_late()[:2], rescued(66, retries=0), *come_back_late()[3:]],
        ending(JobStatus.COMPLETED),
        "rescued under t1 with 0 retries and not 1",
    ),
    "rescued before its time": (
        lambda: [life()[0], rescued(0, retries=1), *life()[1:]],
        DONE,
        "rescued before it was claimed",
    ),
    "a ghost after a rescue": (
        lambda: [
            *come_back_late()[:3],
            replace(call(Kind.EXTEND, 68, token="t1"), job=None, expires_at=START + LEASE),
        ],
        ending(JobStatus.FAILED, 1),
        "extend under t1, after it had been rescued",
    ),
    "the last count": (life, ending(JobStatus.COMPLETED, 2), "ended with 2 retries, 1 were seen"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_history_is_found(name: str) -> None:
    history, final, problem = WRONG[name]
    assert problem in [found.removeprefix(f"{NEW.id}: ") for found in violations(history(), final)]


def test_what_was_seen_is_counted() -> None:
    seen = sights(come_back_late())
    assert seen[Sight.CLAIM] == 3
    assert seen[Sight.JOB_CLAIMED] == seen[Sight.RESCUE] == seen[Sight.RETRY] == 1
    assert seen[Sight.TOO_LATE] == 2
    assert seen[Sight.TAKEOVER] == 1
    assert seen[Sight.LATE_BUT_HELD] == 0
    assert sights(life())[Sight.HEARTBEAT] == 1
    late = [*run_out()[:2], call(Kind.COMPLETE, 62, COMPLETED.evolve(updated_at=START + 1.1 * LEASE), "t1")]
    assert sights(late)[Sight.LATE_BUT_HELD] == 1
