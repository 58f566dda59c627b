from __future__ import annotations

import pytest

from jobqueue_client import Client, JobNotFound, WaitTimeout
from tests.client.clocks import InstantClock
from tests.client.fake_api import FakeApi, problem


def test_wait_returns_the_finished_job(
    api: FakeApi, client: Client, clock: InstantClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = api.add()

    def finish_at_last(seconds: float) -> None:
        InstantClock.sleep(clock, seconds)
        if len(clock.sleeps) == 4:
            api.jobs[job_id] |= {"status": "completed", "result": 42}

    monkeypatch.setattr(clock, "sleep", finish_at_last)
    assert client.wait(job_id, timeout=60).result == 42
    assert clock.sleeps == pytest.approx([0.5, 0.75, 1.125, 1.6875])


def test_wait_gives_up_at_its_deadline_and_not_before(
    api: FakeApi, client: Client, clock: InstantClock
) -> None:
    job_id, started = api.add(), clock.now
    with pytest.raises(WaitTimeout, match="30 seconds"):
        client.wait(job_id, timeout=30)
    assert clock.now - started == pytest.approx(30)
    # asked once more at the very end
    assert api.times("get")[-1] - started == pytest.approx(30)


def test_wait_outlasts_an_api_that_is_down(api: FakeApi, client: Client, clock: InstantClock) -> None:
    job_id = api.add(status="failed")
    api.faults += [("get", "refused"), ("get", problem(503, "unavailable", headers={"retry-after": "4"}))]
    assert client.wait(job_id).status == "failed"
    assert clock.sleeps == [0.5, 4.0]


def test_wait_does_not_wait_for_what_is_not_there(client: Client) -> None:
    with pytest.raises(JobNotFound):
        client.wait("job_nope", timeout=60)
