"""Two hundred callers at once: producers that repeat themselves, workers, and admins that cancel."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import redirect_stdout
from threading import Barrier, Lock
from typing import TYPE_CHECKING

from jobqueue.errors import JobNotCancellable
from jobqueue.job import Job, JobStatus
from jobqueue.queue import Enqueued, NewJob
from tests.support.callers import admin, producer, worker
from tests.support.workshop import OPS, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PRODUCERS, WORKERS, ADMINS = 95, 95, 10
EACH = 3
"""Jobs of each producer, each of which is asked for twice."""


class Crowd:
    """What the callers did, as each of them was told."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.start = Barrier(PRODUCERS + WORKERS + ADMINS)
        self.lock = Lock()
        self.enqueued: list[Enqueued] = []
        self.completed: list[Job] = []
        self.cancelled: set[str] = set()
        self.is_broken = False

    def run(self, act: Callable[[int], None], number: int) -> None:
        """Let a caller act; whatever it did not expect ends the run for all."""
        try:
            act(number)
        except BaseException:
            self.is_broken = True
            raise

    def produce(self, number: int) -> None:
        queue, caller = self.workshop.another_queue(), producer(f"shop-{number}")
        self.start.wait()
        for job in [*range(EACH)] * 2:
            # the same key for everybody: keys of different callers never meet
            new = NewJob(type="note", payload={"of": number, "job": job}, idempotency_key=f"order-{job}")
            enqueued = queue.enqueue(caller, new)
            with self.lock:
                self.enqueued.append(enqueued)

    def work(self, number: int) -> None:
        queue, caller = self.workshop.another_queue(), worker(f"mailer-{number}")
        self.start.wait()
        while not self.is_done():
            if (job := queue.claim(caller)) is None:
                continue
            done = queue.complete(caller, job.id, lease_token=job.lease_token, result=job.payload)
            with self.lock:
                self.completed.append(done)

    def cancel(self, number: int) -> None:
        queue, caller = self.workshop.another_queue(), admin(f"ops-{number}")
        self.start.wait()
        tried: set[str] = set()
        while len(tried) < EACH and not self.is_done():
            with self.lock:
                known = [one.job.id for one in self.enqueued if one.job.id not in tried]
            for job_id in known[number : number + 1]:
                tried.add(job_id)
                try:
                    job = queue.cancel(caller, job_id)
                except JobNotCancellable:
                    continue
                if job.status is JobStatus.CANCELLED:
                    with self.lock:
                        self.cancelled.add(job_id)

    def is_done(self) -> bool:
        with self.lock:
            return self.is_broken or len(self.completed) + len(self.cancelled) >= PRODUCERS * EACH


def test_two_hundred_callers_lose_nothing_and_share_nothing(client: DynamoDBClient) -> None:
    crowd = Crowd(Workshop(client))
    everybody = [
        *((crowd.produce, number) for number in range(PRODUCERS)),
        *((crowd.work, number) for number in range(WORKERS)),
        *((crowd.cancel, number) for number in range(ADMINS)),
    ]
    with redirect_stdout(io.StringIO()), ThreadPoolExecutor(max_workers=len(everybody)) as pool:
        running = [pool.submit(crowd.run, act, number) for act, number in everybody]
        wait(running)
    for one in running:
        one.result()  # nobody was refused

    # each was told of one job for each key, and each job was made once
    jobs = {one.job.id: one.job for one in crowd.enqueued}
    assert len(jobs) == PRODUCERS * EACH == sum(one.created for one in crowd.enqueued)
    assert len(crowd.enqueued) == 2 * len(jobs)
    assert crowd.workshop.ids() == jobs.keys()
    # each job was finished once, by one caller, and nobody got the job of another
    finished = Counter(job.id for job in crowd.completed) + Counter(crowd.cancelled)
    assert finished == Counter(jobs.keys())
    for job_id, job in jobs.items():
        stored = crowd.workshop.queue.get(OPS, job_id)
        assert stored.created_by == job.created_by == f"key:shop-{stored.payload['of']}"
        assert stored.status is (JobStatus.CANCELLED if job_id in crowd.cancelled else JobStatus.COMPLETED)
        assert stored.result == (None if job_id in crowd.cancelled else stored.payload)
        assert stored.retry_count == 0
