from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from jobqueue_client import (
    Client,
    IdempotencyKeyReused,
    InvalidRequest,
    Job,
    JobNotCancellable,
    JobNotFound,
    JobNotHeld,
    JobNotRetryable,
    NewJob,
    NoAnswer,
    UnexpectedAnswer,
)
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi

JOB: dict[str, Any] = {
    "id": "job_1",
    "type": "email",
    "queue": "default",
    "priority": "low",
    "status": "running",
    "retry_count": 1,
    "max_retries": 3,
    "created_at": "2026-11-30T02:26:02.123456Z",
    "available_at": "2026-11-30T02:26:02.123456Z",
}


def claimed(api: FakeApi, client: Client) -> Job:
    api.add()
    job = client.claim()
    assert job is not None
    return job


def test_what_is_not_given_is_left_to_the_api(api: FakeApi, client: Client) -> None:
    client.enqueue("greet", idempotency_key="k")
    assert api.calls[-1].body == {"type": "greet", "payload": {}, "idempotency_key": "k"}


def test_what_is_given_is_sent(api: FakeApi, client: Client) -> None:
    noon = datetime(2027, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    client.enqueue("greet", {"n": "é"}, queue="q", priority="high", max_retries=0, run_at=noon)
    sent = api.calls[-1].body
    assert sent.pop("idempotency_key").startswith("auto-")
    assert sent == {
        "type": "greet",
        "payload": {"n": "é"},
        "queue": "q",
        "priority": "high",
        "max_retries": 0,
        "run_at": "2027-01-01T10:00:00+00:00",
    }


def test_a_known_key_finds_its_job(api: FakeApi, client: Client) -> None:
    first = client.enqueue("greet", {"n": 1}, idempotency_key="k")
    again = client.enqueue("greet", {"n": 1}, idempotency_key="k")
    assert (first.created, again.created) == (True, False)
    assert first.job.id == again.job.id
    with pytest.raises(IdempotencyKeyReused):
        client.enqueue("greet", {"n": 2}, idempotency_key="k")


def test_times_that_cannot_be_meant_are_refused_before_the_call(api: FakeApi, client: Client) -> None:
    naive = datetime(2027, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(ValueError, match="time zone"):
        client.enqueue("greet", run_at=naive)
    for year, month, day, hours in ((9999, 12, 31, -20), (1, 1, 1, 20)):
        edge = datetime(year, month, day, 12, tzinfo=timezone(timedelta(hours=hours)))
        with pytest.raises(ValueError, match="calendar"):
            client.enqueue("greet", run_at=edge)
    with pytest.raises(ValueError, match="not both"):
        client.enqueue("greet", run_at=naive.replace(tzinfo=UTC), delay_seconds=1)
    assert api.calls == []


@pytest.mark.parametrize("payload", [{"n": float("nan")}, {"s": "\ud83d"}, {"o": object()}])
def test_a_payload_that_is_no_json_is_refused_before_the_call(
    api: FakeApi, client: Client, payload: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, ValueError)):
        client.enqueue("greet", payload)
    assert api.calls == []


def test_text_of_four_bytes_a_character_stays_small_on_the_wire(client: Client) -> None:
    sizes: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sizes.append(len(request.content))
        return httpx.Response(201, json=JOB)

    with Client(URL, KEY, transport=httpx.MockTransport(answer)) as wired:
        wired.enqueue("greet", {"s": "😀" * 16_000})
    assert sizes[0] < 65_536


def test_a_job_is_read_with_aware_times_and_unknown_members_are_ignored() -> None:
    failure = {"error": "boom", "failed_at": "2026-11-30T03:00:00+01:00", "worker_id": None, "new": 1}
    job = Job.from_json({**JOB, "errors": [failure], "priority": "urgent", "colour": "red", "result": None})
    assert job.created_at == datetime(2026, 11, 30, 2, 26, 2, 123456, tzinfo=UTC)
    assert job.errors[0].failed_at == datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
    assert job.priority == "urgent"
    assert not job.is_finished


@pytest.mark.parametrize("wrong", [{"id": None}, {"created_at": 7}, {"created_at": "noon"}, {"errors": [1]}])
def test_an_answer_that_is_no_job_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer):
        Job.from_json({**JOB, **wrong})


def test_the_repr_of_a_job_keeps_its_secrets() -> None:
    job = Job.from_json({**JOB, "lease_token": "CANARY", "payload": {"p": "CANARY"}, "result": "CANARY"})
    assert "CANARY" not in repr(job)
    assert "CANARY" not in repr(NewJob(type="greet", payload={"p": "CANARY"}))


def test_a_list_follows_its_cursors(api: FakeApi, client: Client) -> None:
    wanted = [api.add() for _ in range(250)]
    api.add("other")
    assert [job.id for job in client.list(job_type="greet")] == wanted
    assert [call.path for call in api.calls] == ["/jobs"] * 3


def test_an_empty_page_is_not_the_end() -> None:
    pages = iter([{"jobs": [], "next_cursor": "x"}, {"jobs": [JOB], "next_cursor": None}])
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=next(pages)))
    with Client(URL, KEY, transport=transport) as client:
        assert [job.id for job in client.list()] == ["job_1"]


def test_one_page_can_be_asked_for(api: FakeApi, client: Client) -> None:
    ids = [api.add() for _ in range(3)]
    page = client.list_page(status="pending", limit=2)
    rest = client.list_page(status="pending", limit=2, cursor=page.next_cursor)
    assert [job.id for job in page.jobs + rest.jobs] == ids
    assert rest.next_cursor is None


def test_a_claimed_job_goes_its_way(api: FakeApi, client: Client) -> None:
    job = claimed(api, client)
    lease = client.heartbeat(job, lease_seconds=90, progress={"done": 1})
    assert job.lease_expires_at is not None
    assert lease.lease_expires_at - job.lease_expires_at == timedelta(seconds=30)
    assert not lease.cancel_requested
    done = client.complete(job, {"ok": True})
    assert (done.status, done.result, done.is_finished) == ("completed", {"ok": True}, True)
    sent = [call.body["lease_token"] for call in api.calls[1:]]
    assert sent == [job.lease_token] * 2
    with pytest.raises(JobNotHeld):
        client.heartbeat(job)


def test_a_failed_and_a_released_job_come_back(api: FakeApi, client: Client) -> None:
    job = claimed(api, client)
    assert client.fail(job, "boom \ud83d", retry_in_seconds=0).status == "pending"
    assert api.jobs[job.id]["error"] == "boom \ufffd"
    again = client.claim()
    assert again is not None
    assert client.release(again, delay_seconds=5).retry_count == 1
    assert client.claim() is None


def test_a_discarded_job_is_failed_and_can_be_retried(api: FakeApi, client: Client) -> None:
    job = claimed(api, client)
    assert client.fail(job, "never", discard=True).status == "failed"
    assert client.retry(job.id).status == "pending"
    with pytest.raises(JobNotRetryable):
        client.retry(job.id)


def test_cancel_says_what_it_could_do(api: FakeApi, client: Client) -> None:
    job_id = api.add()
    assert client.cancel(job_id).status == "cancelled"
    assert client.cancel(job_id).status == "cancelled"
    job = claimed(api, client)
    assert client.cancel(job.id).cancel_requested
    client.complete(job)
    with pytest.raises(JobNotCancellable):
        client.cancel(job.id)


def test_claims_say_what_they_want(api: FakeApi, client: Client) -> None:
    ids = [api.add(), api.add(), api.add()]
    claimed = client.claim_many(2, queues=("a", "b"), lease_seconds=30)
    assert [job.id for job in claimed.jobs] == ids[:2]
    assert api.calls[-1].body == {"max_jobs": 2, "queues": ["a", "b"], "lease_seconds": 30}
    assert client.claim_many(1).jobs[0].id == ids[2]
    nothing = client.claim_many(1)
    assert (nothing.jobs, nothing.retry_after) == ((), 7.0)


def test_a_claim_without_a_token_is_no_claim() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=JOB))
    with Client(URL, KEY, transport=transport) as client, pytest.raises(UnexpectedAnswer):
        client.claim()


def test_a_job_can_be_ended_by_what_was_kept_of_it(api: FakeApi, client: Client) -> None:
    @dataclass
    class Kept:
        id: str
        lease_token: str | None

    job = claimed(api, client)
    with pytest.raises(ValueError, match="lease token"):
        client.complete(Kept(job.id, None))
    assert client.complete(Kept(job.id, job.lease_token)).status == "completed"


@pytest.mark.parametrize("job_id", ["", "..", "a/b", "job_1?x", "é", "x" * 65])
def test_an_id_that_would_lead_elsewhere_is_not_sent(api: FakeApi, client: Client, job_id: str) -> None:
    with pytest.raises(ValueError, match="job id"):
        client.get(job_id)
    assert api.calls == []


def test_a_job_that_is_not_there_is_not_found(client: Client) -> None:
    with pytest.raises(JobNotFound):
        client.get("job_nope")


def test_other_options_share_the_connections(api: FakeApi, client: Client, clock: InstantClock) -> None:
    impatient = client.with_options(retry=None, timeout=1.0)
    assert impatient.timeout == 1.0
    impatient.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.claim()


def test_the_timeout_reaches_the_connection() -> None:
    seen: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"])
        return httpx.Response(204)

    with Client(URL, KEY, timeout=12.0, transport=httpx.MockTransport(answer)) as client:
        client.claim()
        client.with_options(timeout=2.0).claim()
    assert [(one["connect"], one["read"]) for one in seen] == [(5.0, 12.0), (2.0, 2.0)]


def test_a_path_in_the_url_is_kept() -> None:
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        return httpx.Response(200, content=json.dumps(JOB))

    for url in (URL, URL + "/", "http://localhost:4566/_aws/execute-api/a1/$default"):
        with Client(url, KEY, transport=httpx.MockTransport(answer)) as client:
            client.get("job_1")
    assert paths == ["/live/jobs/job_1"] * 2 + ["/_aws/execute-api/a1/$default/jobs/job_1"]


def test_refusals_of_an_enqueue_are_raised(client: Client) -> None:
    with pytest.raises(InvalidRequest):
        client.enqueue("unknown")


def test_no_answer_to_an_enqueue_says_that_it_may_have_landed(api: FakeApi, client: Client) -> None:
    api.faults += [("post", "lost"), *[("post", "refused")] * 9]
    with pytest.raises(NoAnswer) as caught:
        client.enqueue("greet")
    assert caught.value.may_have_landed
