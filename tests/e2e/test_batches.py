from __future__ import annotations

import uuid

from local.curl import QUEUE
from tests.e2e.jobs import email, seen
from tests.e2e.running import Stack


def test_a_batch_answers_each_job_on_its_own(stack: Stack) -> None:
    key = str(uuid.uuid4())
    jobs = [email(), email(type="nothing"), email(idempotency_key=key), email(idempotency_key=key)]

    answer = stack.call("producer", "POST", "/jobs/batch", {"jobs": jobs})

    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result["status"] for result in results[:2]] == [201, 422]
    assert sorted(result["status"] for result in results[2:]) == [200, 201]
    assert results[2]["job"]["id"] == results[3]["job"]["id"]
    assert results[1]["problem"]["errors"][0]["field"] == "type"


def test_a_batch_is_claimed_and_completed(empty: Stack) -> None:
    posted = empty.call("producer", "POST", "/jobs/batch", {"jobs": [email()] * 12}).json()["results"]

    taken = empty.call("worker", "POST", "/jobs/batch/claim", {"max_jobs": 25, "queues": [QUEUE]})
    assert taken.status_code == 200
    jobs = taken.json()["jobs"]
    assert {job["id"] for job in jobs} == {result["job"]["id"] for result in posted}

    ends = [{"id": job["id"], "lease_token": job["lease_token"], "result": {"n": 1}} for job in jobs]
    ends[0]["lease_token"] = "of-somebody-else"
    done = empty.call("worker", "POST", "/jobs/batch/complete", {"jobs": ends}).json()["results"]

    assert [result["status"] for result in done] == [409] + [200] * 11
    assert seen(empty, jobs[0])["status"] == "running"
    assert seen(empty, jobs[1])["status"] == "completed"
