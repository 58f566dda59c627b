from __future__ import annotations

from local.curl import QUEUE
from tests.e2e.jobs import claimed, email, enqueued, seen, work
from tests.e2e.running import Stack


def test_a_job_is_enqueued_claimed_and_completed(empty: Stack) -> None:
    answer = empty.call("producer", "POST", "/jobs", email())
    job = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"].endswith(f"/jobs/{job['id']}")
    assert seen(empty, job, "producer")["status"] == "pending"

    taken = claimed(empty)
    assert taken["id"] == job["id"]
    assert taken["payload"] == email()["payload"]
    assert taken["worker_id"] == "key:worker"
    assert seen(empty, job)["status"] == "running"

    assert work(empty, taken, "complete", result={"message_id": "m-1"}).status_code == 200
    found = seen(empty, job, "producer")
    assert (found["status"], found["result"]) == ("completed", {"message_id": "m-1"})


def test_nothing_to_claim_is_204_with_a_time_to_wait(empty: Stack) -> None:
    answer = empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]})

    assert answer.status_code == 204
    assert int(answer.headers["retry-after"]) > 0
    assert answer.content == b""


def test_the_most_urgent_job_is_claimed_first_and_then_the_oldest(empty: Stack) -> None:
    low, first, second = (
        enqueued(empty, priority=priority)["id"] for priority in ("low", "medium", "medium")
    )

    assert [claimed(empty)["id"] for _ in range(3)] == [first, second, low]


def test_a_failed_job_is_retried_until_its_retries_are_spent(empty: Stack) -> None:
    job = enqueued(empty, max_retries=1)

    fail(empty, retry_in_seconds=0)
    again = seen(empty, job)
    assert (again["status"], again["retry_count"]) == ("pending", 1)

    fail(empty)
    spent = seen(empty, job)
    assert (spent["status"], spent["retry_count"]) == ("failed", 1)
    assert "no such mailbox" in spent["error"]


def test_a_failed_job_waits_before_it_is_retried(empty: Stack) -> None:
    job = enqueued(empty)

    fail(empty, retry_in_seconds=3600)

    assert seen(empty, job)["status"] == "pending"
    assert empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]}).status_code == 204


def test_a_lease_ends_with_its_job(empty: Stack) -> None:
    enqueued(empty)
    taken = claimed(empty)
    assert work(empty, taken, "complete").status_code == 200

    late = work(empty, taken, "fail")

    assert late.status_code == 409
    assert late.json()["type"] == "urn:jobqueue:problem:job-not-held"
    assert late.headers["content-type"] == "application/problem+json"
    assert seen(empty, taken)["status"] == "completed"


def test_jobs_are_listed_page_by_page(empty: Stack) -> None:
    wanted = {enqueued(empty)["id"] for _ in range(5)}
    found: list[str] = []
    cursor = ""
    while True:
        page = empty.call("producer", "GET", f"/jobs?status=pending&limit=2{cursor}").json()
        found += [job["id"] for job in page["jobs"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert wanted <= set(found)
    assert len(found) == len(set(found))


def test_every_error_of_a_body_is_named(stack: Stack) -> None:
    body = email(priority="urgent", max_retries=-1, payload={"to": 7}, surprise=1)

    answer = stack.call("producer", "POST", "/jobs", body)

    assert answer.status_code == 422
    named = {error["field"] for error in answer.json()["errors"]}
    assert {"priority", "max_retries", "surprise"} <= named


def fail(stack: Stack, **fields: object) -> None:
    answer = work(stack, claimed(stack), "fail", error="no such mailbox", **fields)
    assert answer.status_code == 200, answer.text
