from __future__ import annotations

import httpx
import pytest

from jobqueue_client import (
    Client,
    Completion,
    Enqueued,
    InvalidRequest,
    Job,
    JobNotHeld,
    NewJob,
    RetryPolicy,
    Unavailable,
    UnexpectedAnswer,
)
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi, problem


def sizes(api: FakeApi) -> list[int]:
    return [len(call.body["jobs"]) for call in api.calls if "jobs" in call.body]


def test_many_jobs_go_in_calls_of_a_hundred(api: FakeApi, client: Client) -> None:
    results = client.enqueue_many(NewJob(type="greet", payload={"n": n}) for n in range(230))
    made = [result.job for result in results if isinstance(result, Enqueued) and result.created]
    assert [api.jobs[job.id]["payload"]["n"] for job in made] == list(range(230))
    assert sizes(api) == [100, 100, 30]


def test_large_jobs_go_in_smaller_calls(api: FakeApi, client: Client) -> None:
    client.enqueue_many([NewJob(type="greet", payload={"s": "x" * 60_000}) for _ in range(50)])
    assert len(api.jobs) == 50
    assert sizes(api) == [41, 9]


def test_no_jobs_are_no_call(api: FakeApi, client: Client) -> None:
    assert client.enqueue_many([]) == ()
    assert api.calls == []


def test_a_refused_job_stops_no_other(api: FakeApi, client: Client) -> None:
    types = ["greet", "unknown", "greet"]
    first, second, third = client.enqueue_many([NewJob(type=one) for one in types])
    assert isinstance(first, Enqueued)
    assert isinstance(second, InvalidRequest)
    assert isinstance(third, Enqueued)
    assert second.problem == "invalid-request"


def test_a_lost_answer_doubles_nothing(api: FakeApi, client: Client) -> None:
    api.faults.append(("batch", "lost"))
    results = client.enqueue_many([NewJob(type="greet") for _ in range(3)])
    assert [one.job.id for one in results if isinstance(one, Enqueued)] == list(api.jobs)


def test_the_same_objects_may_be_sent_again(api: FakeApi, client: Client) -> None:
    jobs = [NewJob(type="greet") for _ in range(3)]
    client.enqueue_many(jobs)
    again = client.enqueue_many(jobs)
    assert len(api.jobs) == 3
    assert [one.created for one in again if isinstance(one, Enqueued)] == [False] * 3


def busy_for(busy: list[list[int]], api: FakeApi) -> httpx.MockTransport:
    """Answer the jobs at these places with 503, call by call; the others as the API does."""
    left = iter(busy)
    inner = api.transport()

    def answer(request: httpx.Request) -> httpx.Response:
        results = inner.handle_request(request).json()["results"]
        for place in next(left):
            results[place] = {"status": 503, "problem": problem(503, "unavailable").json()}
        return httpx.Response(200, json={"results": results})

    return httpx.MockTransport(answer)


def test_only_the_jobs_that_did_not_get_through_are_sent_again(api: FakeApi, clock: InstantClock) -> None:
    transport = busy_for([[1, 3], [1], []], api)
    with Client(URL, KEY, transport=transport, clock=clock, random=lambda: 1.0) as client:
        results = client.enqueue_many([NewJob(type="greet") for _ in range(4)])
    assert all(isinstance(one, Enqueued) for one in results)
    assert sizes(api) == [4, 2, 1]
    assert clock.sleeps == [0.2, 0.4]


def test_what_never_gets_through_is_told(api: FakeApi, clock: InstantClock) -> None:
    transport = busy_for([[0]] * 3, api)
    with Client(URL, KEY, transport=transport, clock=clock, retry=RetryPolicy(attempts=3)) as client:
        stuck, fine = client.enqueue_many([NewJob(type="greet") for _ in range(2)])
    assert isinstance(stuck, Unavailable)
    assert isinstance(fine, Enqueued)
    assert sizes(api) == [2, 1, 1]


def test_the_end_of_a_whole_call_is_raised(api: FakeApi, client: Client) -> None:
    api.down = True
    with pytest.raises(Unavailable):
        client.enqueue_many([NewJob(type="greet")])


@pytest.mark.parametrize(
    "body", [{}, {"results": []}, {"results": [1]}, {"results": [{}]}, {"results": [{"status": 201}]}]
)
def test_an_answer_without_a_result_for_each_job_is_unexpected(body: dict[str, object]) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    with Client(URL, KEY, transport=transport) as client, pytest.raises(UnexpectedAnswer):
        client.enqueue_many([NewJob(type="greet")])


def test_many_jobs_are_completed_in_calls_of_25(api: FakeApi, client: Client) -> None:
    for _ in range(30):
        api.add()
    jobs = client.claim_many(25).jobs + client.claim_many(5).jobs
    api.take_away(jobs[3].id)
    results = client.complete_many(Completion(job, {"n": n}) for n, job in enumerate(jobs))
    assert isinstance(results[3], JobNotHeld)
    done = [one for one in results if isinstance(one, Job)]
    assert len(done) == 29
    assert api.jobs[jobs[29].id]["result"] == {"n": 29}
    assert sizes(api) == [25, 5]
