"""Jobs as items of the table: what is written reads back, and what was not written by us is refused."""

from __future__ import annotations

import json
import random
import string
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.errors import CorruptItem
from jobqueue.item import (
    failure_attribute,
    new_job_attributes,
    pack,
    read_entry,
    read_job,
    to_item,
    unpack,
)
from jobqueue.job import Job, JobFailure, JobPriority, JobStatus, format_timestamp
from tests.support.clock import START
from tests.support.samples import JOB_ID, a_job

LATER = START + timedelta(seconds=60)
FAILURE = JobFailure(error="no route to host", failed_at=START, worker_id="key:mailer")
REST = 900
"""What a job is assumed to weigh beside its payload."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PAYLOADS = st.dictionaries(
    TEXT, st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | st.lists(TEXT)
)
JOBS = st.builds(
    a_job,
    payload=PAYLOADS,
    priority=st.sampled_from(JobPriority),
    status=st.sampled_from(JobStatus),
    retry_count=st.integers(0, 10**9),
    max_retries=st.integers(0, 10**9),
    idempotency_key=st.none() | TEXT.filter(bool),
    trace_id=st.none() | TEXT.filter(bool),
)


def stored(job: Job, **more: Any) -> dict[str, Any]:
    """Write `job` as the table does when it is put, with `more` attributes."""
    attributes = {**new_job_attributes(job), "rev": 0, "lane": "default/pending/0/0", "lane_order": "x"}
    return to_item(attributes | more)


@given(JOBS)
def test_a_new_job_reads_back_the_same(job: Job) -> None:
    assert read_job(stored(job)).job == job


def test_everything_that_a_job_gathers_reads_back() -> None:
    more = {
        "worker_id": "key:mailer",
        "claimed_at": format_timestamp(START),
        "lease_token": "token-1",
        "lease_expires_at": format_timestamp(LATER),
        "cancel_requested": True,
        "progress": "[1,2]",
        "result": pack('{"sent":true}'),
        "error": "no route to host",
        "errors": [failure_attribute(FAILURE)],
        "finished_at": format_timestamp(LATER),
        "marks": ["fail:token-1:abc"],
        "enqueue_token": "token-0",
        "fingerprint": "f",
        "expires_at": 1_900_000_000,
        "rev": 7,
    }
    found = read_job(stored(a_job(), **more))
    assert found.job == a_job(
        worker_id="key:mailer",
        claimed_at=START,
        lease_token="token-1",
        lease_expires_at=LATER,
        cancel_requested=True,
        progress=[1, 2],
        result={"sent": True},
        error="no route to host",
        errors=(FAILURE,),
        finished_at=LATER,
    )
    assert (found.rev, found.expires_at) == (7, 1_900_000_000)
    assert (found.marks, found.enqueue_token, found.fingerprint) == (("fail:token-1:abc",), "token-0", "f")


def test_what_is_none_is_not_written() -> None:
    assert to_item({"a": None, "b": False, "c": 0, "d": ""}).keys() == {"b", "c", "d"}
    assert "idempotency_key" not in stored(a_job())


def test_numbers_of_a_payload_are_exact() -> None:
    payload = {"a": 30.4, "b": 0.1, "c": 10**39, "d": int("1" * 39), "e": 1.0, "f": 1}
    found = read_job(stored(a_job(payload=payload))).job.payload
    assert json.dumps(found) == json.dumps(payload)


@pytest.mark.parametrize(
    "name",
    [
        *("id", "type", "queue", "payload", "priority", "status", "retry_count", "max_retries"),
        *("available_at", "created_by", "created_at", "updated_at", "rev", "lane_order"),
    ],
)
def test_an_item_without_what_every_job_has_is_refused(name: str) -> None:
    item = stored(a_job())
    del item[name]
    with pytest.raises(CorruptItem):
        read_job(item)


@pytest.mark.parametrize(
    "name, value",
    [
        ("status", {"S": "lost"}),
        ("priority", {"N": "5"}),
        ("priority", {"S": "low"}),
        ("retry_count", {"S": "many"}),
        ("available_at", {"S": "tomorrow"}),
        ("available_at", {"N": "1"}),
        ("claimed_at", {"S": ""}),
        ("payload", {"S": "{"}),
        ("payload", {"B": b"not compressed"}),
        ("payload", {"B": b""}),
        ("payload", {"N": "1"}),
        ("result", {"M": {}}),
        ("errors", {"L": [{"S": "text"}]}),
        ("errors", {"L": [{"M": {}}]}),
        ("marks", {"N": "1"}),
        ("expires_at", {"S": "soon"}),
        ("rev", {"NULL": True}),
    ],
)
def test_an_item_that_is_not_a_job_is_refused(name: str, value: dict[str, Any]) -> None:
    with pytest.raises(CorruptItem):
        read_job(stored(a_job()) | {name: value})


def test_what_is_wrong_with_an_item_tells_nothing_of_it() -> None:
    with pytest.raises(CorruptItem) as refused:
        read_job(stored(a_job()) | {"payload": {"S": "CANARY"}})
    assert "CANARY" not in str(refused.value)


def test_an_entry_of_the_index_is_a_summary() -> None:
    job = a_job(priority=JobPriority.HIGH, retry_count=2)
    whole = stored(job, claimed_at=format_timestamp(START), worker_id="key:mailer")
    projected = {name: value for name, value in whole.items() if name not in {"payload", "updated_at"}}
    entry = read_entry(projected)
    assert (entry.rev, entry.lane, entry.lane_order) == (0, "default/pending/0/0", "x")
    assert (entry.summary.id, entry.summary.priority) == (JOB_ID, JobPriority.HIGH)
    assert (entry.summary.retry_count, entry.summary.claimed_at) == (2, START)
    assert (entry.summary.worker_id, entry.summary.finished_at) == ("key:mailer", None)


@pytest.mark.parametrize("name", ["id", "status", "priority", "rev", "lane", "lane_order", "created_by"])
def test_an_entry_that_lacks_something_is_refused(name: str) -> None:
    item = stored(a_job())
    del item[name]
    with pytest.raises(CorruptItem):
        read_entry(item)


@given(TEXT)
def test_what_is_packed_is_unpacked(text: str) -> None:
    assert unpack(pack(json.dumps(text, ensure_ascii=False))) == text


@given(st.integers(1, 70_000), st.sampled_from(["a", "ä", "noise"]))
def test_compression_saves_a_billed_kilobyte_or_is_not_done(size: int, filling: str) -> None:
    text = _noise(size) if filling == "noise" else filling * size
    packed = pack(text)
    plain = len(text.encode())
    if isinstance(packed, bytes):
        assert _billed(len(packed)) < _billed(plain)
    else:
        assert packed == text


@pytest.mark.parametrize("size", [1, 100, 124])
def test_what_fits_the_first_kilobyte_stays_text(size: int) -> None:
    assert pack("a" * size) == "a" * size


def test_what_compresses_well_is_compressed() -> None:
    assert isinstance(pack("a" * 2000), bytes)


def test_noise_stays_text() -> None:
    assert isinstance(pack(_noise(1500)), str)


@pytest.mark.parametrize("expires_in, past", [(-2, True), (-1, True), (0, False), (1, False)])
def test_a_job_is_kept_until_its_second_is_over(expires_in: int, past: bool) -> None:
    second = int(START.timestamp())
    assert read_job(stored(a_job(), expires_at=second + expires_in)).is_past_retention(START) == past


def test_what_is_not_finished_never_expires() -> None:
    assert not read_job(stored(a_job())).is_past_retention(START.replace(year=9999))


def _billed(size: int) -> int:
    return -(-(size + REST) // 1024)


def _noise(size: int) -> str:
    # noise of 6 bits a byte: zlib gains a quarter at most
    return "".join(random.Random(size).choices(string.ascii_letters + string.digits, k=size))
