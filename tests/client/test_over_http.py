"""The client on real sockets, against the API in memory behind a server on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from jobqueue_client import Client, JobContext, NoAnswer, RetryPolicy, Worker
from tests.client.conftest import KEY
from tests.client.fake_api import FakeApi
from tests.client.http_server import Server


@pytest.fixture
def api() -> FakeApi:
    return FakeApi(time.monotonic)


@pytest.fixture
def server(api: FakeApi) -> Iterator[Server]:
    with Server.running(api) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, KEY, retry=RetryPolicy(base_seconds=0.0)) as client:
        yield client


def test_a_connection_that_is_cut_after_the_request_doubles_nothing(api: FakeApi, client: Client) -> None:
    client.enqueue("greet")
    api.faults.append(("post", "lost"))
    assert client.enqueue("greet").created
    assert len(api.jobs) == 2


def test_a_port_where_nobody_listens_is_no_answer_and_nothing_landed(server: Server) -> None:
    with Client("http://127.0.0.1:1", KEY, retry=RetryPolicy(attempts=2, base_seconds=0.0)) as client:
        with pytest.raises(NoAnswer) as caught:
            client.claim()
        assert not caught.value.may_have_landed


def test_one_client_serves_many_threads_and_a_worker(api: FakeApi, client: Client) -> None:
    worker = Worker(client, {"greet": greet}, concurrency=4, poll_seconds=0.01)
    working = threading.Thread(target=worker.run)
    working.start()
    greetings: list[object] = []

    def produce(number: int) -> None:
        job = client.enqueue("greet", {"name": number}).job
        greetings.append(client.wait(job.id, poll_seconds=0.01).result)

    producers = [threading.Thread(target=produce, args=(number,)) for number in range(12)]
    for thread in producers:
        thread.start()
    for thread in producers:
        thread.join()
    worker.stop()
    working.join()
    assert sorted(map(str, greetings)) == sorted(f"Hello {number}" for number in range(12))
    assert set(api.completions.values()) == {1}


def greet(context: JobContext) -> str:
    return f"Hello {context.payload['name']}"
