"""Two hundred callers over HTTP, and requests that are too large, too slow or never finished."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx

from jobqueue.keys import create_key
from local.curl import QUEUE
from tests.e2e.jobs import JsonObject, email, those
from tests.e2e.running import Stack

PRODUCERS = WORKERS = 100
AT_ONCE = 5
"""As many as the emulator bears: for each of them, it starts a process of each function that they call."""


def keys(stack: Stack, role: str, count: int) -> list[str]:
    """Make a key for each of many callers."""
    client, table = stack.aws.dynamodb(), stack.state.outputs["ApiKeysTableName"]
    return [
        create_key(f"crowd-{role}-{number}", role=role, queues=(QUEUE,), client=client, table=table)
        for number in range(count)
    ]


def letter(number: int) -> JsonObject:
    """Return what only one producer knows."""
    return {"to": f"reader-{number}@example.com", "subject": f"To {number}", "body": "It works."}


def completed(stack: Stack) -> dict[str, JsonObject]:
    """Return all jobs that are completed, by id."""
    found: list[JsonObject] = []
    cursor = ""
    while cursor is not None:
        path = f"/jobs?queue={QUEUE}&status=completed&limit=100" + (f"&cursor={cursor}" if cursor else "")
        page = stack.call("admin", "GET", path).json()
        found += page["jobs"]
        cursor = page["next_cursor"]
    return {job["id"]: job for job in found}


def test_two_hundred_callers_lose_nothing_and_share_nothing(empty: Stack) -> None:
    producers, workers = keys(empty, "producer", PRODUCERS), keys(empty, "worker", WORKERS)
    statuses: Counter[int] = Counter()

    def ask(key: str, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = empty.call_as(key, method, path, body)
        statuses[answer.status_code] += 1
        return answer

    def produce(number: int) -> str:
        # the same idempotency key for everybody: keys of different callers never meet
        body = email(payload=letter(number), idempotency_key="order-1")
        made = ask(producers[number], "POST", "/jobs", body)
        assert made.status_code == 201, made.text
        if number % 4 == 0:
            again = ask(producers[number], "POST", "/jobs", body)
            assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])
        return str(made.json()["id"])

    def work(number: int) -> JsonObject | None:
        answer = ask(workers[number], "POST", "/jobs/claim", {"queues": [QUEUE]})
        if answer.status_code == 204:
            return None  # all shards were taken from at that moment
        taken: JsonObject = answer.json()
        assert taken["worker_id"] == f"key:crowd-worker-{number}"
        body = {"lease_token": taken["lease_token"], "result": taken["payload"]}
        done = ask(workers[number], "POST", f"/jobs/{taken['id']}/complete", body)
        assert done.status_code == 200, done.text
        return taken

    taken: list[JsonObject] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # some workers are there from the beginning, and mostly find nothing
        first = [pool.submit(work, number) for number in range(0, WORKERS, 5)]
        ids = list(pool.map(produce, range(PRODUCERS)))
        taken += filter(None, (one.result() for one in first))
        while len(taken) < PRODUCERS:
            more = list(filter(None, pool.map(work, range(len(taken), PRODUCERS))))
            taken += more
            assert more or those(empty, "pending"), "a job was lost"
        seen = list(pool.map(lambda number: ask(producers[number], "GET", f"/jobs/{ids[7]}"), range(10)))

    assert len(set(ids)) == PRODUCERS
    assert Counter(job["id"] for job in taken) == Counter(ids)  # each was handed out, once
    assert those(empty, "pending") == those(empty, "running") == []
    done = completed(empty)
    assert [done[job_id]["created_by"] for job_id in ids] == [
        f"key:crowd-producer-{number}" for number in range(PRODUCERS)
    ]
    assert all(job["payload"] == letter(ids.index(job["id"])) for job in taken)
    private = [{"payload", "result", "idempotency_key"} & answer.json().keys() for answer in seen]
    assert [len(shown) for shown in private] == [3 if number == 7 else 0 for number in range(10)]
    assert seen[7].json()["payload"] == seen[7].json()["result"] == letter(7)
    assert [number for number, answer in enumerate(seen) if "reader-" in answer.text] == [7]
    assert {status // 100 for status in statuses} == {2}


def test_what_is_too_large_is_413_and_leaves_nothing(empty: Stack) -> None:
    large = email(payload={"to": "ada@example.com", "subject": "x", "body": "y" * (128 * 1024)})
    jobs = [email(payload={"to": "ada@example.com", "subject": "x", "body": "y" * 60_000})] * 25
    huge = {"jobs": jobs, "more": "z" * (3 * 1024 * 1024)}
    for role, path, body in (
        ("producer", "/jobs", large),
        ("producer", "/jobs/batch", huge),
        ("worker", "/jobs/claim", large),
        ("worker", "/jobs/batch/complete", huge),
    ):
        answer = empty.call(role, "POST", path, body)
        assert answer.status_code == 413, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
    assert those(empty, "pending") == []


def opened(stack: Stack, body: bytes, length: int) -> socket.socket:
    """Begin a request to enqueue a job, of whose body not all is sent yet."""
    url = urlsplit(stack.state.url)
    head = (
        f"POST {url.path}/jobs HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {stack.state.keys['producer']}\r\nContent-Length: {length}\r\n"
        "Connection: close\r\n\r\n"
    )
    connection = socket.create_connection((url.hostname or "localhost", url.port or 80), timeout=60)
    connection.sendall(head.encode() + body)
    return connection


def test_who_sends_slowly_or_hangs_up_keeps_nobody_waiting_and_leaves_nothing(empty: Stack) -> None:
    body = json.dumps(email()).encode()
    half = len(body) // 2
    slow = [opened(empty, body[:half], len(body)) for _ in range(AT_ONCE)]
    for one in slow[1:]:
        one.close()  # in the middle of its body
    for text in (b"", b"{", body[:-1]):
        opened(empty, text, len(body)).close()

    assert empty.call("producer", "GET", f"/jobs?queue={QUEUE}").status_code == 200
    assert those(empty, "pending") == []
    with closing(slow[0]) as patient:
        for index in range(half, len(body)):
            patient.sendall(body[index : index + 1])
            time.sleep(0.01)
        answer = b"".join(iter(lambda: patient.recv(65_536), b""))
    assert b" 201 " in answer.partition(b"\r\n")[0]
    assert len(those(empty, "pending")) == 1
