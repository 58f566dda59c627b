from __future__ import annotations

from itertools import pairwise

import pytest

from jobqueue_client import Cancelled, JobContext
from tests.client.clocks import wait_for
from tests.client.conftest import Bench
from tests.client.fake_api import FakeApi, problem


def test_the_lease_is_extended_well_before_it_ends(bench: Bench) -> None:
    bench.api.add()
    bench.start()
    bench.advance(300)
    beats = bench.api.times("heartbeat")
    assert beats == [1000.0 + 20 * n for n in range(1, 16)]
    assert not bench.gate.inside[0].lost.is_set()


def test_a_long_lease_is_heard_of_as_often_as_it_is_told(bench: Bench) -> None:
    bench.api.add()
    bench.start(lease_seconds=3600, heartbeat_seconds=30.0)
    bench.advance(90)
    assert bench.api.times("heartbeat") == [1030.0, 1060.0, 1090.0]
    assert {call.body["lease_seconds"] for call in bench.api.calls if call.verb == "heartbeat"} == {3600}


def test_the_shortest_lease_is_kept(bench: Bench) -> None:
    bench.api.lease_seconds = 5.0
    job_id = bench.api.add()
    bench.start()
    for _ in range(60):
        bench.advance(0.5, step=0.5)
        assert bench.api.jobs[job_id]["lease_ends"] > bench.clock.monotonic() + 2
    bench.gate.open()
    wait_for(lambda: bench.api.status(job_id) == "completed", "the job completed")


def test_a_lost_lease_ends_the_heartbeats_and_is_never_completed(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    context = bench.gate.inside[0]
    bench.api.take_away(job_id)
    bench.advance(20)
    assert context.lost.is_set()
    bench.advance(100)
    assert bench.api.times("heartbeat") == [1020.0]
    bench.gate.open()
    wait_for(lambda: bench.api.status(job_id) == "completed", "the job completed by the next claim")
    # one completion only, under the second lease
    assert [call.verb for call in bench.api.calls if call.verb in {"complete", "fail", "release"}] == [
        "complete"
    ]
    assert bench.api.jobs[job_id]["retry_count"] == 1


def test_a_handler_that_ignores_its_lost_lease_reports_nothing(bench: Bench) -> None:
    job_id = bench.api.add()

    def stubborn(context: JobContext) -> str:
        bench.gate.hold(context)
        return "half done"

    bench.start(stubborn, concurrency=1)
    bench.api.take_away(job_id)
    bench.api.jobs[job_id]["available"] = float("inf")
    bench.advance(20)
    bench.gate.open()
    bench.clock.settle()
    assert bench.api.status(job_id) == "pending"
    assert bench.api.times("complete") == []


def test_heartbeats_are_tried_again_while_there_is_time(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    bench.api.down = True
    bench.advance(55)
    tried = bench.api.times("heartbeat")
    assert len(tried) >= 4
    bench.api.down = False
    bench.advance(4)
    assert bench.api.jobs[job_id]["lease_ends"] > 1100
    assert not bench.gate.inside[0].lost.is_set()


def test_a_retry_after_beyond_the_lease_does_not_cost_it(bench: Bench) -> None:
    bench.api.add()
    bench.start(concurrency=1)
    bench.api.faults.append(("heartbeat", problem(503, "unavailable", headers={"retry-after": "600"})))
    bench.advance(60)
    assert bench.api.times("heartbeat")[:2] == [1020.0, 1040.0]
    assert not bench.gate.inside[0].lost.is_set()


def test_a_worker_that_calls_too_often_keeps_its_lease(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    slower = problem(429, "too-many-requests", headers={"retry-after": "9"})
    bench.api.faults += [("heartbeat", slower)] * 3
    bench.advance(60)
    first, second, third, fourth = bench.api.times("heartbeat")[:4]
    assert first == 1020.0
    assert second - first >= 9  # as it was asked to
    assert third - second >= 9
    assert fourth < 1060.0  # sooner than it was asked to, since the lease ends
    assert not bench.gate.inside[0].lost.is_set()
    bench.gate.open()
    wait_for(lambda: bench.api.status(job_id) == "completed", "the job completed")


@pytest.mark.parametrize("times", [1, 5])
def test_a_result_that_comes_too_often_is_reported_later_and_once(bench: Bench, times: int) -> None:
    job_id = bench.api.add()
    slower = problem(429, "too-many-requests", headers={"retry-after": "9"})
    bench.api.faults += [("complete", slower)] * times
    bench.start(lambda _: "done", concurrency=1)
    bench.advance(15 * times)
    tried = bench.api.times("complete")
    assert len(tried) == times + 1
    assert all(later - sooner >= 9 for sooner, later in pairwise(tried))
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["result"]) == ("completed", "done")
    assert bench.api.completions[job_id] == 1
    assert bench.api.jobs[job_id]["retry_count"] == 0


def test_a_lease_that_could_not_be_extended_is_lost_when_it_ends(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    context = bench.gate.inside[0]
    bench.api.down = True
    bench.advance(59)
    assert not context.lost.is_set()
    bench.advance(1)
    assert context.lost.is_set()
    bench.api.down = False
    bench.gate.open()
    bench.clock.settle()
    assert bench.api.status(job_id) == "running"


def test_the_lease_is_timed_from_before_the_claim_was_sent(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.api.add()

    # the claim takes ten seconds to be answered, and the API counts from its end
    def slow(body: dict[str, object]) -> dict[str, object] | None:
        bench.clock.advance(10)
        return FakeApi.take(bench.api, body)

    monkeypatch.setattr(bench.api, "take", slow)
    bench.start(concurrency=1)
    bench.api.down = True
    bench.advance(49)
    assert not bench.gate.inside[0].lost.is_set()
    bench.advance(1)
    assert bench.gate.inside[0].lost.is_set()


def test_a_handler_sees_that_its_job_shall_be_cancelled(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    bench.api.ask_to_cancel(job_id)
    bench.advance(20)
    context = bench.gate.inside[0]
    assert context.cancelled.is_set()
    assert not context.lost.is_set()
    with pytest.raises(Cancelled):
        context.check()
    bench.gate.open()
    bench.clock.settle()
    assert bench.api.status(job_id) == "cancelled"


def test_a_job_that_is_done_in_spite_of_a_cancel_is_done(bench: Bench) -> None:
    job_id = bench.api.add()

    def cancelled_meanwhile(_: JobContext) -> str:
        bench.api.ask_to_cancel(job_id)
        return "done"

    bench.start(cancelled_meanwhile)
    assert bench.api.status(job_id) == "completed"


def test_progress_is_told_soon_and_not_too_often(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start()
    context = bench.gate.inside[0]
    for percent in range(50):
        context.progress({"percent": percent})
    bench.clock.settle()
    bench.advance(2)
    assert bench.api.jobs[job_id]["progress"] == {"percent": 49}
    context.progress({"percent": 50})
    bench.clock.settle()
    assert len(bench.api.times("heartbeat")) == 1
    bench.advance(2)
    assert bench.api.jobs[job_id]["progress"] == {"percent": 50}
    assert len(bench.api.times("heartbeat")) == 2


def test_progress_waits_for_an_api_that_is_down(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start()
    bench.api.down = True
    bench.gate.inside[0].progress("half")
    bench.clock.settle()
    bench.advance(20)
    assert len(bench.api.times("heartbeat")) < 10
    bench.api.down = False
    bench.advance(10)
    assert bench.api.jobs[job_id]["progress"] == "half"


def test_progress_that_the_api_refuses_costs_no_lease(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start()
    bench.api.faults.append(("heartbeat", problem(422, "invalid-request")))
    bench.gate.inside[0].progress("odd")
    bench.clock.settle()
    bench.advance(80)
    assert "progress" not in bench.api.jobs[job_id] or bench.api.jobs[job_id]["progress"] is None
    assert bench.api.jobs[job_id]["lease_ends"] > 1080


@pytest.mark.parametrize("value", ["x" * 1023, object(), float("nan")])
def test_progress_that_cannot_be_told_is_refused_at_once(bench: Bench, value: object) -> None:
    bench.api.add()
    bench.start()
    with pytest.raises((TypeError, ValueError)):
        bench.gate.inside[0].progress(value)


def test_a_heartbeat_that_meets_its_own_completion_loses_nothing(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    # the completion lands and its answer is lost; any heartbeat from now on would be refused
    bench.api.faults += [("complete", "lost")] * 2
    bench.gate.open()
    wait_for(lambda: bool(bench.api.times("complete")), "a first report")
    bench.advance(30)
    assert bench.api.completions[job_id] == 1
    assert len(bench.api.times("complete")) == 3


def test_an_extension_is_timed_from_before_it_was_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.api.add()
    bench.start(concurrency=1)

    def slow(job_id: str, verb: str, body: dict[str, object]) -> dict[str, object]:
        extended = FakeApi.change(bench.api, job_id, verb, body)
        bench.clock.advance(5)
        return extended

    monkeypatch.setattr(bench.api, "change", slow)
    bench.advance(20)
    bench.api.down = True
    # sent at 1020, answered at 1025
    bench.advance(54)
    assert not bench.gate.inside[0].lost.is_set()
    bench.advance(1)
    assert bench.clock.monotonic() == 1080
    assert bench.gate.inside[0].lost.is_set()
