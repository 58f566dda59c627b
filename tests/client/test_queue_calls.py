from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from jobqueue_client import Client, JobCounts, NoAnswer, Queue, QueueNotFound, Retried, UnexpectedAnswer
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi, problem
from tests.client.fake_queue import EPOCH, stamp


def answered(body: object) -> Client:
    return Client(URL, KEY, transport=httpx.MockTransport(lambda _: httpx.Response(200, json=body)))


def fail(api: FakeApi, count: int, job_type: str = "greet") -> list[str]:
    ids = [api.add(job_type) for _ in range(count)]
    for job_id in ids:
        api.jobs[job_id]["status"] = "failed"
    return ids


def test_queues_tell_what_is_in_them(api: FakeApi, client: Client, clock: InstantClock) -> None:
    api.queues["mail"] = True
    api.add()
    api.add(priority="high")
    fail(api, 3)
    clock.sleep(90)
    default, mail = client.queues()
    assert default == Queue(
        name="default",
        paused=False,
        counts=JobCounts(pending={"critical": 0, "high": 1, "medium": 0, "low": 1}, failed=3),
        oldest_pending_at=EPOCH + timedelta(seconds=clock.now - 90),
        oldest_age_seconds=90.0,
    )
    assert (mail.name, mail.paused, mail.oldest_pending_at, mail.oldest_age_seconds) == (
        "mail",
        True,
        None,
        None,
    )


def test_a_paused_queue_hands_out_nothing_until_it_is_resumed(api: FakeApi, client: Client) -> None:
    api.add()
    assert client.pause("default") == Queue(name="default", paused=True)
    assert client.claim() is None
    assert client.pause("default").paused
    assert not client.resume("default").paused
    assert client.claim() is not None
    assert [call.path for call in api.calls if call.verb == "pause"] == ["/queues/default/pause"] * 2


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_pause_whose_answer_is_lost_is_repeated(api: FakeApi, client: Client, verb: str) -> None:
    api.faults.append((verb, "lost"))
    assert getattr(client, verb)("default").paused is (verb == "pause")
    assert len(api.times(verb)) == 2


def test_failed_jobs_are_retried_step_by_step(api: FakeApi, client: Client) -> None:
    fail(api, 5)
    steps = [client.retry_failed("default", limit=2) for _ in range(3)]
    assert steps == [Retried(2, 0, True), Retried(2, 0, True), Retried(1, 0, False)]
    assert {job["status"] for job in api.jobs.values()} == {"pending"}


def test_only_what_is_asked_for_is_retried(api: FakeApi, client: Client) -> None:
    wanted, other = fail(api, 1)[0], fail(api, 1, "other")[0]
    assert client.retry_failed("default", job_type="greet") == Retried(1, 0, False)
    assert (api.status(wanted), api.status(other)) == ("pending", "failed")
    assert api.calls[-1].body == {"status": "failed", "type": "greet", "limit": 100}
    client.cancel(wanted)
    assert client.retry_failed("default", status="cancelled").retried == 1


def test_only_jobs_that_failed_before_a_time_are_retried(api: FakeApi, client: Client) -> None:
    for job_id, finished in zip(fail(api, 2), (10, 20), strict=True):
        api.jobs[job_id]["finished_at"] = stamp(finished)
    before = EPOCH + timedelta(seconds=20)
    local = before.astimezone(timezone(timedelta(hours=2)))
    assert client.retry_failed("default", finished_before=local) == Retried(1, 0, False)
    assert api.calls[-1].body["finished_before"] == "2026-11-30T00:00:20+00:00"
    with pytest.raises(ValueError, match="time zone"):
        client.retry_failed("default", finished_before=before.replace(tzinfo=None))
    with pytest.raises(ValueError, match="calendar"):
        client.retry_failed("default", finished_before=datetime(1, 1, 1, tzinfo=local.tzinfo))
    assert len(api.times("retry")) == 1


def test_a_retry_in_bulk_whose_answer_is_lost_is_not_repeated(api: FakeApi, client: Client) -> None:
    fail(api, 3)
    api.faults.append(("retry", "lost"))
    with pytest.raises(NoAnswer) as caught:
        client.retry_failed("default", limit=2)
    assert caught.value.may_have_landed
    assert [api.status(job_id) for job_id in api.jobs] == ["pending", "pending", "failed"]


def test_a_retry_in_bulk_that_the_api_refused_unread_is_repeated(api: FakeApi, client: Client) -> None:
    fail(api, 1)
    api.faults += [("retry", "refused"), ("retry", problem(503, "unavailable"))]
    assert client.retry_failed("default").retried == 1


@pytest.mark.parametrize("call", ["pause", "resume", "retry_failed"])
def test_a_queue_that_is_not_there_is_not_found(client: Client, call: str) -> None:
    with pytest.raises(QueueNotFound):
        getattr(client, call)("nope")


@pytest.mark.parametrize("call", ["pause", "resume", "retry_failed"])
@pytest.mark.parametrize("queue", ["", "..", "a/b", "Default", "a?b", "é", "x" * 65])
def test_a_name_that_would_lead_elsewhere_is_not_sent(
    api: FakeApi, client: Client, call: str, queue: str
) -> None:
    with pytest.raises(ValueError, match="queue's name"):
        getattr(client, call)(queue)
    assert api.calls == []


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"queues": [1]},
        {"queues": [{"name": "q"}]},
        {"queues": [{"name": 1, "paused": True}]},
        {"queues": [{"name": "q", "paused": "no"}]},
        {"queues": [{"name": "q", "paused": True, "counts": 3}]},
        {"queues": [{"name": "q", "paused": True, "counts": {"pending": 3}}]},
        {"queues": [{"name": "q", "paused": True, "counts": {"failed": "3"}}]},
        {"queues": [{"name": "q", "paused": True, "oldest_pending_at": "noon"}]},
        {"queues": [{"name": "q", "paused": True, "oldest_age_seconds": True}]},
    ],
)
def test_an_answer_that_is_no_list_of_queues_is_unexpected(wrong: dict[str, Any]) -> None:
    with answered(wrong) as client, pytest.raises(UnexpectedAnswer):
        client.queues()


@pytest.mark.parametrize("wrong", [{}, {"retried": 1, "more": 1}, {"retried": True, "more": False}])
def test_an_answer_that_is_no_step_of_a_retry_is_unexpected(wrong: dict[str, Any]) -> None:
    with answered(wrong) as client, pytest.raises(UnexpectedAnswer):
        client.retry_failed("default")


def test_a_newer_api_may_say_more() -> None:
    more = {"name": "q", "paused": False, "colour": "red", "counts": {"pending": {"urgent": 1}, "lost": 2}}
    with answered({"queues": [more]}) as client:
        assert client.queues()[0].counts == JobCounts(pending={"urgent": 1})
