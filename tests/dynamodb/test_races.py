"""Many at once, on an engine whose conditions hold."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from jobqueue.job import Job
from jobqueue.queue import Enqueued, NewJob
from tests.dynamodb.checker import violations
from tests.dynamodb.history import Sight, sights
from tests.dynamodb.players import Common
from tests.dynamodb.racing import DATABASE, Race, RaceClock, all_jobs, join, play_in_a_process, work_all
from tests.support.dynamodb_local import connect_anew
from tests.support.tables import create_tables
from tests.support.workshop import MAILER, SHOP, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PROCESSES = 4
THREADS = 4
JOBS = 2000
TURNS = 80
LEAST = {
    Sight.CLAIM: 2100,
    Sight.JOB_CLAIMED: 1900,
    Sight.COMPLETED: 1200,
    Sight.FAILED: 40,
    Sight.RELEASED: 20,
    Sight.HEARTBEAT: 60,
    Sight.CANCEL: 35,
    Sight.RETRY: 55,
    Sight.TAKEOVER: 30,
    Sight.RESCUE: 150,
    Sight.TOO_LATE: 75,
    Sight.LATE_BUT_HELD: 70,
}
"""What the race shows while all race, about half of what it does on a usual day: less would prove little."""

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
        processes=PROCESSES,
        players=THREADS,
        jobs=JOBS // (PROCESSES * THREADS),
        turns=TURNS * LONGER,
        away=16,
    )
    client = connect_anew(url, DATABASE)
    create_tables(client)
    spawn = multiprocessing.get_context("spawn")
    clock = RaceClock(spawn)
    with ProcessPoolExecutor(
        max_workers=PROCESSES, mp_context=spawn, initializer=join, initargs=(clock,)
    ) as pool:
        playing = [pool.submit(play_in_a_process, race, number, url) for number in range(PROCESSES)]
        history = [call for process in playing for call in process.result()]
    seen = sights(history)
    history += work_all(Common(client, clock), clock)
    assert violations(history, all_jobs(client)) == []
    assert {sight: seen[sight] for sight in LEAST if seen[sight] < LEAST[sight]} == {}
