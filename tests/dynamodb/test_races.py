"""Many at once, on an engine whose conditions hold."""

from __future__ import annotations

import multiprocessing
import os
import time
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING

from jobqueue.job import Job
from jobqueue.queue import Enqueued, NewJob
from tests.dynamodb.history import Kind, violations
from tests.dynamodb.racing import FastClock, Player, Race, all_jobs, play_in_a_process
from tests.support.tables import create_tables
from tests.support.workshop import MAILER, SHOP, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PROCESSES = 4
THREADS = 4
JOBS = 2000
LONGER = int(os.environ.get("JOBQUEUE_SOAK", "1"))
"""How many times as many jobs the long runs take."""


def test_fault_9_a_herd(client: DynamoDBClient) -> None:
    workshop = Workshop(client)
    jobs = {workshop.enqueue().id for _ in range(50)}
    queues = [workshop.another_queue() for _ in jobs]
    start = Barrier(len(queues))

    def claim(number: int) -> Job | None:
        start.wait()
        return queues[number].claim(MAILER)

    with ThreadPoolExecutor(max_workers=len(queues)) as pool:
        claimed = [job.id for job in pool.map(claim, range(len(queues))) if job is not None]
    assert sorted(claimed) == sorted(jobs)


def test_eight_at_once_with_one_key_make_one_job(client: DynamoDBClient) -> None:
    workshop = Workshop(client)
    queues = [workshop.another_queue() for _ in range(8)]
    start = Barrier(len(queues))

    def enqueue(number: int) -> Enqueued:
        start.wait()
        return queues[number].enqueue(SHOP, NewJob(type="note", idempotency_key="order-7"))

    with ThreadPoolExecutor(max_workers=len(queues)) as pool:
        outcomes = list(pool.map(enqueue, range(len(queues))))
    assert workshop.ids() == {outcome.job.id for outcome in outcomes}
    assert len(workshop.ids()) == 1
    assert sorted(outcome.created for outcome in outcomes) == [False] * 7 + [True]


def test_whatever_many_do_no_job_is_lost_or_held_by_two(url: str) -> None:
    race = Race(
        url=url,
        database=uuid.uuid4().hex,
        clock=FastClock(time.monotonic()),
        jobs=JOBS // (PROCESSES * THREADS),
        turns=200 * LONGER,
    )
    client = race.connect()
    create_tables(client)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=PROCESSES, mp_context=spawn) as pool:
        playing = [pool.submit(play_in_a_process, race, number, THREADS) for number in range(PROCESSES)]
        history = [call for process in playing for call in process.result()]
    # all leases are over now; whatever is left is worked to its end
    last = Player("last", client, replace(race.clock, skipped=timedelta(hours=1)))
    history += last.work_all()
    assert {call.kind for call in history} == set(Kind)
    assert violations(history, all_jobs(client)) == []
