from __future__ import annotations

from tests.e2e.jobs import JsonObject, claimed, enqueued, seen, work
from tests.e2e.running import Stack


def test_a_heartbeat_extends_the_lease_and_tells_the_progress(empty: Stack) -> None:
    enqueued(empty)
    taken = claimed(empty)

    answer = work(empty, taken, "heartbeat", lease_seconds=3600, progress={"percent": 50})

    assert answer.status_code == 200
    lease: JsonObject = answer.json()
    assert lease["lease_expires_at"] > taken["lease_expires_at"]
    assert lease["cancel_requested"] is False
    assert seen(empty, taken)["progress"] == {"percent": 50}


def test_a_released_job_is_claimed_again_and_lost_nothing(empty: Stack) -> None:
    enqueued(empty)
    taken = claimed(empty)

    assert work(empty, taken, "release").status_code == 200

    again = claimed(empty)
    assert (again["id"], again["retry_count"]) == (taken["id"], 0)
    assert again["lease_token"] != taken["lease_token"]
    assert work(empty, taken, "complete").status_code == 409
    assert work(empty, again, "complete").status_code == 200


def test_a_worker_hears_that_its_job_is_to_be_cancelled(empty: Stack) -> None:
    job = enqueued(empty)
    taken = claimed(empty)
    assert empty.call("producer", "POST", f"/jobs/{job['id']}/cancel", {}).status_code == 200

    assert work(empty, taken, "heartbeat").json()["cancel_requested"] is True
    assert work(empty, taken, "release").status_code == 200
    assert seen(empty, job)["status"] == "cancelled"
