"""Many jobs through a DynamoDB that fails all the time, and whose index is always late."""

from __future__ import annotations

import multiprocessing
import random
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from jobqueue.errors import Unavailable
from jobqueue.job import JobStatus
from jobqueue.lanequeries import LaneQueries
from jobqueue.operating import Operator
from jobqueue.queue import JobQueue
from jobqueue.queues import QueuesTable
from tests.dynamodb.checker import violations
from tests.dynamodb.history import Sight, sights
from tests.dynamodb.players import BACKOFF, RACER, Common, Player
from tests.dynamodb.racing import Race, RaceClock, all_jobs, play
from tests.dynamodb.scenarios import ONE_QUEUE
from tests.dynamodb.test_races import JOBS, LONGER
from tests.support.botofaults import Fault, Faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WORKERS = 4
TURNS = 150
SHARE = 0.08
STALEST = 20
MOST_ROUNDS = 100

LEAST = {
    Sight.FAILED: 12,
    Sight.RELEASED: 6,
    Sight.HEARTBEAT: 12,
    Sight.CANCEL: 12,
    Sight.RETRY: 12,
    Sight.TAKEOVER: 6,
    Sight.RESCUE: 50,
    Sight.TOO_LATE: 25,
    Sight.LATE_BUT_HELD: 12,
}
"""What happens under faults before the jobs that are left are worked off, about a third of what is usual."""


def test_nothing_is_lost_or_done_twice(client: DynamoDBClient) -> None:
    jobs, rng, faults = JOBS * LONGER, random.Random(1), Faults.of(client)
    clock = RaceClock(multiprocessing.get_context("spawn"))
    common = Common(client, clock, max_retries=(1, 9, 100))
    race = Race(processes=1, players=WORKERS, jobs=jobs // WORKERS, turns=TURNS * LONGER, away=16)
    with (
        faults.stale_index(lambda: rng.randrange(STALEST) or None),
        faults.at_random(SHARE, rng) as injected,
    ):
        seen = sights(play(race, 0, common, clock))
        work_to_the_end(client, common, clock)
    final = all_jobs(client)
    assert violations(common.history, final, all_was_heard=False) == []
    assert Counter(job.status for job in final.values()) == {JobStatus.COMPLETED: jobs}
    assert all(job.result == job_id for job_id, job in final.items())
    assert set(injected) == set(Fault)
    assert {sight: seen[sight] for sight in LEAST if seen[sight] < LEAST[sight]} == {}


def work_to_the_end(client: DynamoDBClient, common: Common, clock: RaceClock) -> None:
    """Give every job that did not complete another life, until all have."""
    queue = JobQueue(common.table, ONE_QUEUE, backoff=BACKOFF, clock=clock)
    operator = Operator(
        queue,
        common.table,
        LaneQueries(client, "jobs"),
        QueuesTable(client, "queues"),
        ONE_QUEUE,
        clock=clock,
    )
    last = Player("last", common)
    for _ in range(MOST_ROUNDS):
        clock.advance(100)
        last.rescue()
        for status in (JobStatus.FAILED, JobStatus.CANCELLED):
            with suppress(Unavailable):
                operator.retry_jobs(RACER, "default", status, limit=100)
        while last.claim(10):
            last.complete_all()
        if {job.status for job in all_jobs(client).values()} == {JobStatus.COMPLETED}:
            return
