from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from jobqueue_client import Discard, Forbidden, JobContext, RetryLater, Snooze, Worker
from tests.client.clocks import wait_for
from tests.client.conftest import Bench
from tests.client.fake_api import problem


def test_a_job_is_handled_and_its_result_kept(bench: Bench) -> None:
    job_id = bench.api.add(payload={"name": "Ada"})
    bench.start(lambda context: {"greeting": f"Hello {context.payload['name']}"})
    assert bench.api.jobs[job_id]["status"] == "completed"
    assert bench.api.jobs[job_id]["result"] == {"greeting": "Hello Ada"}


def test_only_what_can_start_at_once_is_claimed(bench: Bench) -> None:
    ids = [bench.api.add() for _ in range(5)]
    bench.start(concurrency=2)
    bench.advance(30)
    assert [bench.api.status(one) for one in ids] == ["running"] * 2 + ["pending"] * 3
    bench.gate.open()
    wait_for(lambda: sum(bench.api.completions.values()) == 5, "all jobs completed")
    assert bench.api.calls[0].body == {"max_jobs": 2}


def test_no_claim_asks_for_more_than_the_api_gives(bench: Bench) -> None:
    for _ in range(30):
        bench.api.add()
    bench.start(concurrency=40)
    wanted = [call.body.get("max_jobs") for call in bench.api.calls if call.verb == "claim"]
    assert wanted == [25, 15, 10]
    assert len(bench.gate.inside) == 30


def test_an_idle_worker_waits_as_long_as_the_api_says(bench: Bench) -> None:
    bench.start(concurrency=1)
    bench.advance(20)
    # seven seconds and an eighth of jitter, in steps of one
    assert bench.api.times("claim") == [1000.0, 1008.0, 1016.0]


def test_without_a_hint_it_waits_as_long_as_it_was_told(bench: Bench) -> None:
    bench.start(concurrency=2, poll_seconds=3.0)
    bench.advance(8)
    assert bench.api.times("claim") == [1000.0, 1004.0, 1008.0]


def test_a_worker_outlives_an_api_that_is_down(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.api.down = True
    bench.start(lambda _: None)
    bench.advance(300)
    waits = [b - a for a, b in zip(bench.api.times("claim"), bench.api.times("claim")[1:], strict=False)]
    assert waits == sorted(waits)
    assert waits[-1] == 15.0
    job_id = bench.api.add()
    bench.api.down = False
    bench.advance(15)
    assert bench.api.status(job_id) == "completed"
    assert "cannot claim" in caplog.text


def test_each_outage_begins_with_short_waits(bench: Bench) -> None:
    bench.api.down = True
    bench.start(poll_seconds=1.0)
    bench.advance(120)
    bench.api.down = False
    bench.advance(20)
    bench.api.down = True
    before = len(bench.api.times("claim"))
    bench.advance(5)
    assert len(bench.api.times("claim")) - before >= 3


def test_the_answers_retry_after_is_honoured_when_it_is_busy(bench: Bench) -> None:
    bench.api.faults.append(("claim", problem(503, "unavailable", headers={"retry-after": "10"})))
    bench.start()
    bench.advance(11)
    assert bench.api.times("claim") == [1000.0, 1011.0]


def test_a_claim_whose_answer_was_lost_stops_nothing(bench: Bench) -> None:
    lost, next_one = bench.api.add(), bench.api.add()
    bench.api.faults.append(("claim", "lost"))
    bench.start(lambda _: None, concurrency=1)
    bench.advance(2)
    assert bench.api.status(lost) == "running"
    assert bench.api.status(next_one) == "completed"


def test_a_page_in_place_of_the_api_is_waited_out(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.api.faults.append(("claim", httpx.Response(200, content=b"<html>maintenance</html>")))
    bench.start(lambda _: None)
    bench.advance(2)
    assert bench.api.status(job_id) == "completed"


def test_a_refusal_that_stays_is_raised_after_the_running_jobs_have_ended(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=3, poll_seconds=5.0)
    bench.api.faults.append(("claim", httpx.Response(403, json={"message": "Forbidden"})))
    bench.advance(7)
    assert bench.is_running
    bench.gate.open()
    bench.wait_until_stopped()
    assert [type(error) for error in bench.raised] == [Forbidden]
    assert bench.api.status(job_id) == "completed"


def fails(error: BaseException) -> Any:
    def handler(_: JobContext) -> None:
        raise error

    return handler


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Unset(RetryLater):
    def __init__(self) -> None:
        Exception.__init__(self, "a delay that is nowhere")


class Odd(Snooze):
    def __init__(self, seconds: Any) -> None:
        super().__init__(0)
        self.seconds = seconds


class Blind(Discard):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such user"), "ValueError: no such user"),
        (KeyError("name"), "KeyError: 'name'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Wordless(), "Wordless"),
        (Unset(), "Unset"),
        (Odd(-1), "Odd"),
        (Odd(float("nan")), "Odd"),
        (Odd(10**9), "Odd"),
        (Odd("5"), "Odd"),
        (Blind(), "Blind"),
        (OSError("\udcff.txt"), "OSError: \ufffd.txt"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_handler_raises_fails_the_attempt(bench: Bench, error: BaseException, text: str) -> None:
    job_id = bench.api.add(max_retries=0)
    bench.start(fails(error))
    assert bench.api.status(job_id) == "failed"
    assert bench.api.jobs[job_id]["error"] == text
    assert bench.is_running


def test_a_result_that_is_no_json_fails_the_attempt(bench: Bench) -> None:
    job_id = bench.api.add(max_retries=0)
    bench.start(lambda _: {"when": object()})
    assert bench.api.jobs[job_id]["error"].startswith("TypeError: Object of type object")


def test_a_result_that_the_api_refuses_fails_the_attempt(bench: Bench) -> None:
    job_id = bench.api.add(max_retries=0)
    bench.start(lambda _: "x" * 70_000)
    assert bench.api.status(job_id) == "failed"
    assert bench.api.jobs[job_id]["error"].startswith("InvalidRequest: ")


def test_discard_fails_without_a_retry(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(fails(Discard("no such customer")))
    assert bench.api.status(job_id) == "failed"
    assert bench.api.jobs[job_id]["error"] == "no such customer"


def test_retry_later_sets_the_delay_of_the_retry(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(fails(RetryLater(90.2, "rate limited")))
    assert bench.api.calls[-1].verb != "release"
    sent = next(call.body for call in bench.api.calls if call.verb == "fail")
    assert (sent["retry_in_seconds"], sent["error"]) == (91, "rate limited")
    assert bench.api.jobs[job_id]["retry_count"] == 1


def test_snooze_puts_off_without_counting(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(fails(Snooze(30)))
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["retry_count"]) == ("pending", 0)
    bench.advance(29)
    assert len(bench.api.taken) == 1
    bench.advance(10)
    assert len(bench.api.taken) == 2


@pytest.mark.parametrize("seconds", [-1, 604_801, float("nan"), float("inf")])
def test_a_delay_that_cannot_be_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        RetryLater(seconds)


def test_a_type_without_a_handler_is_put_off_for_others(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    job_id = bench.api.add("newer")
    bench.start()
    assert (bench.api.status(job_id), bench.api.jobs[job_id]["retry_count"]) == ("pending", 0)
    sent = next(call.body for call in bench.api.calls if call.verb == "release")
    assert 60 <= sent["delay_seconds"] <= 75
    assert "no handler for jobs of type newer" in caplog.text


@pytest.mark.parametrize("verb", ["complete", "fail"])
@pytest.mark.parametrize("fault", ["refused", "lost"])
def test_an_end_is_reported_although_the_network_fails(bench: Bench, verb: str, fault: str) -> None:
    job_id = bench.api.add(max_retries=0)
    bench.api.faults += [(verb, fault)] * 3
    bench.start(fails(ValueError("x")) if verb == "fail" else lambda _: "done")
    bench.advance(10)
    assert bench.api.status(job_id) == ("failed" if verb == "fail" else "completed")


def test_a_finished_result_survives_an_api_that_is_down(bench: Bench) -> None:
    job_id = bench.api.add()
    bench.start(concurrency=1)
    bench.api.down = True
    bench.gate.open()
    wait_for(lambda: bool(bench.api.times("complete")), "a first report")
    bench.advance(100)
    assert bench.api.status(job_id) == "running"
    bench.api.down = False
    bench.advance(10)
    assert bench.api.status(job_id) == "completed"


def test_an_end_that_the_api_refuses_frees_the_slot(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    first, second = bench.api.add(), bench.api.add()
    bench.api.faults.append(("complete", httpx.Response(403, json={"message": "Forbidden"})))
    bench.start(lambda _: None, concurrency=1)
    assert (bench.api.status(first), bench.api.status(second)) == ("running", "completed")
    assert "the end was not taken: Forbidden" in caplog.text


def test_a_report_ends_when_the_lease_is_surely_over(bench: Bench) -> None:
    bench.api.add()
    bench.start(concurrency=1)
    bench.api.down = True
    bench.gate.open()
    wait_for(lambda: bool(bench.api.times("complete")), "a first report")
    bench.advance(200)
    last = bench.api.times("complete")[-1]
    assert 1110 < last <= 1125
    # and the slot is free again
    assert bench.api.times("claim")[-1] > last


def test_what_was_logged_holds_no_payload_and_no_token(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    job_id = bench.api.add(payload={"p": "CANARY"})
    bench.start()
    token = bench.api.jobs[job_id]["lease_token"]
    bench.api.take_away(job_id)
    bench.advance(30)
    assert job_id in caplog.text
    assert "CANARY" not in caplog.text
    assert token not in caplog.text


@pytest.mark.parametrize(("handlers", "concurrency"), [({}, 1), ({"greet": print}, 0)])
def test_a_worker_that_could_do_nothing_is_refused(
    bench: Bench, handlers: dict[str, Any], concurrency: int
) -> None:
    with pytest.raises(ValueError, match="at least one handler"):
        Worker(bench.client, handlers, concurrency=concurrency)
