from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from jobqueue_client import Client, NoAnswer, RetryPolicy, ServerError, TooManyRequests, Unavailable
from jobqueue_client.retry import retry_after_seconds
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi, problem


def client_of(
    answers: list[httpx.Response | Exception], clock: InstantClock, retry: RetryPolicy | None = None
) -> Client:
    """Return a client that is answered so, one after the other."""
    left: Iterator[httpx.Response | Exception] = iter(answers)

    def answer(_: httpx.Request) -> httpx.Response:
        one = next(left)
        if isinstance(one, Exception):
            raise one
        return one

    transport = httpx.MockTransport(answer)
    return Client(URL, KEY, transport=transport, clock=clock, random=lambda: 1.0, retry=retry)


def test_an_enqueue_whose_answer_was_lost_makes_one_job(api: FakeApi, client: Client) -> None:
    api.faults.append(("post", "lost"))
    enqueued = client.enqueue("greet", {"name": "Ada"})
    assert list(api.jobs) == [enqueued.job.id]
    assert enqueued.created


def test_every_enqueue_without_a_key_makes_a_job(api: FakeApi, client: Client) -> None:
    first, second = client.enqueue("greet"), client.enqueue("greet")
    assert first.job.id != second.job.id
    assert first.created
    assert second.created


@pytest.mark.parametrize("verb", ["complete", "fail", "release"])
def test_the_end_of_a_lease_whose_answer_was_lost_is_told_once(
    api: FakeApi, client: Client, verb: str
) -> None:
    job_id = api.add()
    job = client.claim()
    assert job is not None
    api.faults.append((verb, "lost"))
    ended = getattr(client, verb)(job)
    assert ended.status == api.status(job_id)
    assert api.jobs[job_id]["retry_count"] == (1 if verb == "fail" else 0)
    assert len(api.times(verb)) == 2


def test_a_retry_whose_answer_was_lost_is_no_refusal(api: FakeApi, client: Client) -> None:
    job_id = api.add(status="failed")
    api.faults.append(("retry", "lost"))
    assert client.retry(job_id).status == "pending"


def test_a_claim_that_may_have_been_received_is_not_repeated(api: FakeApi, client: Client) -> None:
    for _ in range(3):
        api.add()
    api.faults.append(("claim", "lost"))
    with pytest.raises(NoAnswer) as caught:
        client.claim()
    assert caught.value.may_have_landed
    assert [job["status"] for job in api.jobs.values()] == ["running", "pending", "pending"]


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_claim_that_failed_inside_is_not_repeated(api: FakeApi, client: Client, status: int) -> None:
    api.faults.append(("claim", httpx.Response(status, json={"message": "Internal Server Error"})))
    with pytest.raises(ServerError):
        client.claim()
    assert len(api.times("claim")) == 1


@pytest.mark.parametrize(
    "fault",
    [
        "refused",
        httpx.Response(429, json={"message": "Too Many Requests"}),
        problem(429, "too-many-requests", headers={"retry-after": "1"}),
        problem(503, "unavailable"),
    ],
    ids=["not connected", "429 of the gateway", "429", "503"],
)
def test_a_claim_that_was_not_begun_is_repeated(
    api: FakeApi, client: Client, fault: str | httpx.Response
) -> None:
    job_id = api.add()
    api.faults.append(("claim", fault))
    job = client.claim()
    assert job is not None
    assert job.id == job_id


def test_waits_double_up_to_the_cap_and_are_jittered(clock: InstantClock) -> None:
    policy = RetryPolicy(attempts=6, base_seconds=1.0, cap_seconds=5.0, total_seconds=100.0)
    with client_of([httpx.Response(500)] * 6, clock, policy) as client, pytest.raises(ServerError):
        client.get("job_1")
    assert clock.sleeps == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert policy.delay(2, 0.25) == 1.0
    assert policy.delay(10_000, 1.0) == 5.0


def test_the_total_time_is_bounded(clock: InstantClock) -> None:
    policy = RetryPolicy(attempts=100, base_seconds=1.0, cap_seconds=4.0, total_seconds=10.0)
    with client_of([httpx.Response(503)] * 100, clock, policy) as client, pytest.raises(Unavailable):
        client.get("job_1")
    assert clock.sleeps == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    "throttled",
    [
        httpx.Response(429, headers={"retry-after": "9"}, json={"message": "slow down"}),
        problem(429, "too-many-requests", headers={"retry-after": "9"}),
    ],
    ids=["of the gateway", "of the API"],
)
def test_retry_after_is_waited_out(clock: InstantClock, throttled: httpx.Response) -> None:
    with client_of([throttled, httpx.Response(404)], clock) as client, pytest.raises(Exception, match="404"):
        client.get("job_1")
    assert clock.sleeps == [9.0 + 0.2]


def test_a_retry_after_beyond_the_total_time_ends_the_call_at_once(clock: InstantClock) -> None:
    throttled = httpx.Response(429, headers={"retry-after": "3600"})
    with client_of([throttled], clock) as client, pytest.raises(TooManyRequests) as caught:
        client.get("job_1")
    assert caught.value.retry_after == 3600.0
    assert clock.sleeps == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 302, 501])
def test_an_answer_that_will_not_change_is_not_asked_for_again(clock: InstantClock, status: int) -> None:
    with client_of([httpx.Response(status)], clock) as client, pytest.raises(Exception, match=str(status)):
        client.get("job_1")
    assert clock.sleeps == []


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.DecodingError("bad gzip"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_read_is_repeated_after_any_failure_of_the_network(
    api: FakeApi, clock: InstantClock, failure: Exception
) -> None:
    job_id = api.add()
    answer = httpx.Response(200, json=api.jobs[job_id])
    with client_of([failure, answer], clock) as client:
        assert client.get(job_id).id == job_id


@pytest.mark.parametrize(
    ("value", "date", "expected"),
    [
        ("3", None, 3.0),
        (" 0 ", None, 0.0),
        ("Fri, 18 Mar 2030 00:01:00 GMT", "Fri, 18 Mar 2030 00:00:30 GMT", 30.0),
        ("Fri, 18 Mar 2030 00:00:00 GMT", "Fri, 18 Mar 2030 00:00:30 GMT", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", None, 60.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", "yesterday", 60.0),
        ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", None, None),
        ("soon", None, None),
        ("-5", None, None),
        ("1_0", None, None),
        ("٣", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_retry_after_is_read_in_both_forms(
    value: str | None, date: str | None, expected: float | None
) -> None:
    assert retry_after_seconds(value, date=date, wall=40.0) == expected


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"base_seconds": -1.0}, {"total_seconds": -1.0}])
def test_a_policy_that_cannot_be_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        RetryPolicy(**wrong)
