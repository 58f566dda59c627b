from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx

from local.curl import QUEUE
from tests.e2e.jobs import email
from tests.e2e.running import Stack


def test_eight_threads_with_one_key_make_one_job(empty: Stack) -> None:
    body = email(idempotency_key=str(uuid.uuid4()))
    together = threading.Barrier(8)

    def post(_: int) -> httpx.Response:
        together.wait()
        return empty.call("producer", "POST", "/jobs", body)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(8)))

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]}).status_code == 200
    assert empty.call("worker", "POST", "/jobs/claim", {"queues": [QUEUE]}).status_code == 204


def test_a_key_of_another_job_is_refused(stack: Stack) -> None:
    key = str(uuid.uuid4())
    first = stack.call("producer", "POST", "/jobs", email(idempotency_key=key))

    other = stack.call("producer", "POST", "/jobs", email(idempotency_key=key, max_retries=9))

    assert first.status_code == 201
    assert other.status_code == 422
    assert other.json()["type"] == "urn:jobqueue:problem:idempotency-key-reused"
    assert first.json()["id"] not in other.text
