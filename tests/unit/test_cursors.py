"""Cursors are good for whom, and for what, they were made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.api import cursors
from jobqueue.errors import InvalidCursor
from jobqueue.job import JobStatus
from jobqueue.principal import Principal
from jobqueue.queue import JobFilter, Position
from tests.support.callers import admin, producer

ROUTE = "GET /jobs"
WANTED = JobFilter(status=JobStatus.PENDING)
POSITION = Position(lane="default/pending/0/0", lane_order="2026-11-30T02:26:02.123456Z#job_1", id="job_1")


def test_the_end_has_no_cursor() -> None:
    assert cursors.encode(None, admin(), ROUTE, WANTED) is None
    assert cursors.decode(None, admin(), ROUTE, WANTED) is None


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_a_cursor_is_read_as_it_was_written(lane: str, lane_order: str, job_id: str) -> None:
    position = Position(lane=lane, lane_order=lane_order, id=job_id)
    cursor = cursors.encode(position, admin(), ROUTE, WANTED)
    assert cursor is not None
    assert cursor.replace("-", "a").replace("_", "a").isalnum()
    assert cursors.decode(cursor, admin(), ROUTE, WANTED) == position


@pytest.mark.parametrize(
    ("caller", "route", "wanted"),
    [
        (admin("other"), ROUTE, WANTED),
        (admin("ops", "default"), ROUTE, WANTED),
        (producer("ops"), "GET /queues", WANTED),
        (admin(), "GET /queues", WANTED),
        (admin(), ROUTE, JobFilter()),
        (admin(), ROUTE, JobFilter(status=JobStatus.FAILED)),
        (admin(), ROUTE, JobFilter(status=JobStatus.PENDING, queue="default")),
        (admin(), ROUTE, JobFilter(status=JobStatus.PENDING, type="note")),
    ],
)
def test_a_cursor_of_another_list(caller: Principal, route: str, wanted: JobFilter) -> None:
    cursor = cursors.encode(POSITION, admin("ops"), ROUTE, WANTED)
    with pytest.raises(InvalidCursor):
        cursors.decode(cursor, caller, route, wanted)


def test_queue_and_type_are_not_mixed_up() -> None:
    cursor = cursors.encode(POSITION, admin(), ROUTE, JobFilter(queue="note"))
    with pytest.raises(InvalidCursor):
        cursors.decode(cursor, admin(), ROUTE, JobFilter(type="note"))


@given(st.text(max_size=200))
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        cursors.decode(text, admin(), ROUTE, WANTED)


@given(st.integers(min_value=0), st.characters())
def test_a_cursor_with_one_character_changed(place: int, character: str) -> None:
    cursor = cursors.encode(POSITION, admin(), ROUTE, WANTED)
    assert cursor is not None
    at = place % len(cursor)
    changed = cursor[:at] + character + cursor[at + 1 :]
    if changed != cursor:
        with pytest.raises(InvalidCursor):
            cursors.decode(changed, admin(), ROUTE, WANTED)
