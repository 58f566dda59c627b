"""Deciding again: what a call does when the job moves between its look and its write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobqueue.deciding import MOST_WRITES, decide
from jobqueue.errors import JobNotFound, Unavailable
from jobqueue.item import StoredJob
from jobqueue.table import Refused
from tests.support.samples import a_job

SEEN = StoredJob(job=a_job(), rev=0, lane_order="")


class Moving:
    """A job whose `rev` grows with every write, each of which is refused but for the last one."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.writes: list[int] = []

    def write(self, seen: StoredJob) -> str | Refused:
        self.writes.append(seen.rev)
        return Refused(replace(seen, rev=seen.rev + 1)) if len(self.writes) <= self.refusals else "written"


@pytest.mark.parametrize("refusals", [0, 1, MOST_WRITES - 1])
def test_each_write_is_about_the_job_as_the_refusal_showed_it(refusals: int) -> None:
    job = Moving(refusals)
    assert decide(SEEN, answer=lambda _: None, write=job.write) == "written"
    assert job.writes == list(range(refusals + 1))


def test_a_job_that_never_stands_still_is_given_up() -> None:
    job = Moving(MOST_WRITES)
    with pytest.raises(Unavailable):
        decide(SEEN, answer=lambda _: None, write=job.write)
    assert len(job.writes) == MOST_WRITES


@pytest.mark.parametrize("at", [0, 1, MOST_WRITES])
def test_a_job_that_answers_is_not_written_any_more(at: int) -> None:
    # also after the last write, which may have been refused by its own success
    job = Moving(MOST_WRITES)
    assert decide(SEEN, answer=lambda seen: "known" if seen.rev == at else None, write=job.write) == "known"
    assert len(job.writes) == at


@pytest.mark.parametrize("seen", [None, SEEN])
def test_a_job_that_is_gone_is_not_found(seen: StoredJob | None) -> None:
    with pytest.raises(JobNotFound):
        decide(seen, answer=lambda _: None, write=lambda _: Refused(None))
