"""Ids, timestamps, statuses and priorities: the forms that are stored and never change."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.job import (
    JobPriority,
    JobStatus,
    format_timestamp,
    is_job_id,
    keyed_job_id,
    new_job_id,
    new_token,
    parse_timestamp,
    utc_now,
)
from tests.support.clock import START
from tests.support.samples import a_job

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
# weeks away from either end of the calendar, which no offset can leave then
MOMENTS = st.datetimes(
    min_value=START.replace(year=1, tzinfo=None),
    max_value=START.replace(year=9999, tzinfo=None),
    timezones=OFFSETS,
)


@given(MOMENTS)
def test_a_timestamp_reads_back_as_the_same_moment(moment: datetime) -> None:
    assert parse_timestamp(format_timestamp(moment)) == moment


@given(MOMENTS, MOMENTS)
def test_the_order_of_text_is_the_order_of_time(one: datetime, other: datetime) -> None:
    assert (format_timestamp(one) < format_timestamp(other)) == (one < other)


@given(MOMENTS)
def test_a_timestamp_has_a_fixed_width(moment: datetime) -> None:
    assert len(format_timestamp(moment)) == len("2026-11-30T02:26:02.123456Z")


def test_a_timestamp_is_written_in_utc_with_microseconds() -> None:
    berlin = timezone(timedelta(hours=1))
    assert format_timestamp(datetime(2026, 11, 30, 3, 26, 2, tzinfo=berlin)) == "2026-11-30T02:26:02.000000Z"


def test_a_naive_time_is_no_timestamp() -> None:
    with pytest.raises(ValueError, match="time zone"):
        format_timestamp(START.replace(tzinfo=None))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30T02:26:02Z",
        "2026-11-30T02:26:02.123Z",
        "2026-11-30T02:26:02.123456",
        "2026-11-30T02:26:02.123456+00:00",
        "2026-11-30 02:26:02.123456Z",
        "2026-11-30T02:26:02.123456Z\n",
        "\N{ARABIC-INDIC DIGIT TWO}026-11-30T02:26:02.123456Z",
        "2026-13-30T02:26:02.123456Z",
        "2026-11-31T02:26:02.123456Z",
    ],
)
def test_another_form_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_timestamp(text)


def test_the_clock_of_a_function_is_in_utc() -> None:
    assert utc_now().tzinfo is UTC


def test_an_id_is_a_ulid() -> None:
    # the time of the example in the specification of ULID
    moment = datetime.fromtimestamp(1469918176.385, UTC)
    assert re.fullmatch(r"job_01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}", new_job_id(moment))


@given(MOMENTS.filter(lambda moment: moment.year >= 1970 and moment.timestamp() >= 0))
def test_a_new_id_has_the_form_of_one(moment: datetime) -> None:
    assert is_job_id(new_job_id(moment))


@given(st.integers(0, 10**9), st.integers(2, 10**9))
def test_ids_sort_by_the_time_when_they_were_made(earlier: int, milliseconds: int) -> None:
    first = START + timedelta(milliseconds=earlier)
    assert new_job_id(first) < new_job_id(first + timedelta(milliseconds=milliseconds))


def test_ids_of_one_moment_differ() -> None:
    assert len({new_job_id(START) for _ in range(1000)}) == 1000


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_key_gives_the_same_id_each_time(caller: str, key: str) -> None:
    job_id = keyed_job_id(caller, key)
    assert job_id == keyed_job_id(caller, key)
    assert is_job_id(job_id)


@given(st.text("a#b\0", max_size=5), st.text("a#b\0", max_size=5))
def test_no_other_split_of_caller_and_key_gives_the_same_id(caller: str, key: str) -> None:
    both = caller + key
    ids = {keyed_job_id(both[:cut], both[cut:]) for cut in range(len(both) + 1)}
    assert len(ids) == len(both) + 1


def test_the_separator_of_a_name_is_no_separator_of_a_key() -> None:
    assert keyed_job_id("a#b", "c") != keyed_job_id("a", "b#c")


def test_a_derived_id_never_changes() -> None:
    # stored ids depend on it: another value here would let every key in use make a second job
    assert keyed_job_id("key:shop", "order-1") == "job_7G4YQBZC7SHCJCVCB2KCD7YD8G"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "job_",
        "job_nope",
        "JOB_01ARYZ6S410123456789ABCDEF",
        "job_01ARYZ6S410123456789ABCDE",
        "job_01ARYZ6S410123456789ABCDEFG",
        "job_01aryz6s410123456789abcdef",
        "job_81ARYZ6S410123456789ABCDEF",
        "job_01ARYZ6S41O123456789ABCDEF",
        "job_01ARYZ6S41I123456789ABCDEF",
        "job_01ARYZ6S41L123456789ABCDEF",
        "job_01ARYZ6S41U123456789ABCDEF",
        "job_01ARYZ6S410123456789ABCDEF\n",
        "job_\N{ARABIC-INDIC DIGIT ZERO}1ARYZ6S410123456789ABCDEF",
    ],
)
def test_what_is_not_an_id(text: str) -> None:
    assert not is_job_id(text)


def test_tokens_are_url_safe_and_all_different() -> None:
    tokens = {new_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", token) for token in tokens)


def test_priorities_are_stored_with_room_between_them() -> None:
    ranks = {priority.value: priority.rank for priority in JobPriority}
    assert ranks == {"low": 0, "medium": 10, "high": 20, "critical": 30}


def test_the_most_urgent_priority_comes_first() -> None:
    names = [priority.value for priority in JobPriority.highest_first()]
    assert names == ["critical", "high", "medium", "low"]


@pytest.mark.parametrize("priority", JobPriority)
def test_a_stored_priority_reads_back(priority: JobPriority) -> None:
    assert JobPriority.from_rank(priority.rank) is priority


@pytest.mark.parametrize("rank", [-1, 5, 31])
def test_a_rank_that_no_priority_has_is_not_read(rank: int) -> None:
    with pytest.raises(ValueError, match="no priority"):
        JobPriority.from_rank(rank)


def test_what_is_finished() -> None:
    finished = {status.value for status in JobStatus if status.is_finished}
    assert finished == {"completed", "failed", "cancelled"}


def test_a_job_evolves_into_another_and_stays() -> None:
    job = a_job()
    assert job.evolve(retry_count=1).retry_count == 1
    assert job.retry_count == 0
