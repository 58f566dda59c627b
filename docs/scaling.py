"""The arithmetic of `scaling.md`, and a simulation that checks it.

Run it with ``PYTHONPATH=.:layers/jobqueue .venv/bin/python docs/scaling.py``.

A second of a queue is played through: so many jobs are enqueued, claimed and completed, each in the shard
that its id gives it. The writes of every lane are counted, the reads of the claims, and what the follower of
the stream makes of the records. What a lane or an item takes at most is what DynamoDB publishes for one
partition.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from jobqueue.job import keyed_job_id
from jobqueue.lanes import shard_of
from tests.bench import prices

PARTITION_WRITES = 1000
"""Write units a second that one partition takes at most, and so one item."""

PARTITION_READS = 3000
"""Read units a second that one partition gives at most."""

TABLE_WRITES = 40_000
"""Write units a second that an on-demand table, or an index of it, takes by the default quota."""

WRITES_OF_A_JOB = {"pending": 2, "running": 2, "completed": 1}
"""Writes to the lanes that a job goes through: into each, and out of the first two."""

TABLE_WRITES_OF_A_JOB = 3
"""Writes to the table: enqueue, claim, complete. An item of up to 1 KB."""

SHARDS = {100: 1, 1_000: 3, 10_000: 25}
"""What `scaling.md` says to set for so many jobs a second."""

SHARDS_OF_A_CLAIM = 2
"""A claim looks at no more of them while jobs are plenty."""

PAGE_READ_UNITS = 1.5
"""For a look at a lane: a page of 25 entries is about 10 KB, and half a unit reads four."""

FOLLOWED_AT_ONCE = 500
"""Records that one invocation of follow_jobs takes at most."""

MINUTES_OF_A_MONTH = 43_800


@dataclass(frozen=True, slots=True)
class Minute:
    """What a function that runs every minute does when there is nothing to do, with two queues of one shard.

    Attributes
    ----------
    calls : dict of str to int
        Calls of DynamoDB, by operation.
    read_units : float
        What they are billed: half a unit for a query, one for each of two flags.
    log_bytes : int
        What it logs itself.
    """

    calls: dict[str, int]
    read_units: float
    log_bytes: int


IDLE_MINUTE = {
    "work_jobs": Minute({"Query": 5, "BatchGetItem": 1}, 4.5, 0),
    "rescue_jobs": Minute({"Query": 2}, 1.0, 250),
    "measure_queues": Minute({"Query": 24, "BatchGetItem": 1}, 14.0, 250),
}
TRACED = ("work_jobs",)
"""Those whose every invocation is a trace."""

ALARMS = 10


def shards_for(jobs: int) -> int:
    """Return the fewest shards that carry `jobs` a second when they spread evenly."""
    per_lane = PARTITION_WRITES // max(WRITES_OF_A_JOB.values())
    return -(-jobs // per_lane)


def index_writes(jobs: int) -> int:
    """Return the write units of the index a second."""
    return jobs * sum(WRITES_OF_A_JOB.values())


def table_writes(jobs: int) -> int:
    """Return the write units of the table a second, for items of up to 1 KB."""
    return jobs * TABLE_WRITES_OF_A_JOB


def ids(jobs: int) -> Iterator[str]:
    """Make the ids of a second's jobs."""
    for number in range(jobs):
        yield keyed_job_id("key:producer", str(number))


def busiest_lane(jobs: int, shards: int) -> int:
    """Play one second and return the writes of the lane that takes the most."""
    writes: Counter[tuple[str, int]] = Counter()
    for job_id in ids(jobs):
        shard = shard_of(job_id, shards)
        for state, count in WRITES_OF_A_JOB.items():
            writes[state, shard] += count
    return max(writes.values())


def busiest_read(jobs: int, shards: int, *, batch: int) -> float:
    """Play the claims of one second and return the read units of the lane that is read most.

    Each claim begins at a shard that is drawn, and looks at the next one, too. All jobs have one priority.
    """
    looks: Counter[int] = Counter()
    for number in range(-(-jobs // batch)):
        first = shard_of(keyed_job_id("key:worker", str(number)), shards)
        for step in range(min(SHARDS_OF_A_CLAIM, shards)):
            looks[(first + step) % shards] += 1
    return max(looks.values()) * PAGE_READ_UNITS


@dataclass(frozen=True, slots=True)
class Followed:
    """What follow_jobs does in a second.

    Attributes
    ----------
    records : int
        Of the stream.
    invocations : int
        At least so many, in full batches.
    item_writes : int
        Writes to the one item of the queue.
    events : int
        Told to the bus.
    """

    records: int
    invocations: int
    item_writes: int
    events: int


def followed(jobs: int) -> Followed:
    """Play the stream of one second: each partition of the table has its own shard, with its own batches.

    As many jobs of the past are deleted as new ones come: four records for each, three of them now.
    """
    partitions = max(1, -(-table_writes(jobs) // PARTITION_WRITES))
    records: Counter[int] = Counter()
    for job_id in ids(jobs):
        records[shard_of(job_id, partitions)] += TABLE_WRITES_OF_A_JOB + 1
    batches = sum(-(-count // FOLLOWED_AT_ONCE) for count in records.values())
    return Followed(sum(records.values()), batches, batches, jobs)


def idle_month() -> dict[str, float]:
    """Return the dollars of a month in which nothing happens, by what they are for, without any free tier."""
    minutes = IDLE_MINUTE.values()
    calls = sum(sum(minute.calls.values()) for minute in minutes)
    seconds = len(minutes) * prices.OWN_SECONDS + calls * prices.CALL_SECONDS
    log_bytes = sum(minute.log_bytes + prices.PLATFORM_LOG_BYTES for minute in minutes)
    a_minute = {
        "Lambda": len(minutes) * prices.LAMBDA_CALLS + seconds * prices.MEMORY_GB * prices.LAMBDA_GB_SECONDS,
        "DynamoDB": sum(minute.read_units for minute in minutes) * prices.READ_UNITS,
        "logs": log_bytes / 1000 * prices.LOG_GB,
        "traces": len(TRACED) * prices.TRACES,
    }
    month = {name: dollars * MINUTES_OF_A_MONTH / 1e6 for name, dollars in a_minute.items()}
    return month | {
        "secret": prices.SECRET,
        "alarms": ALARMS * prices.ALARM,
        "dashboard": prices.DASHBOARD,
    }


def main() -> None:
    """Print the tables of `scaling.md`."""
    sys.stdout.write("jobs/s  shards  busiest lane  index WRU/s  table WRU/s\n")
    for jobs, shards in SHARDS.items():
        row = (jobs, shards, busiest_lane(jobs, shards), index_writes(jobs), table_writes(jobs))
        sys.stdout.write("{:>6}  {:>6}  {:>12}  {:>11}  {:>11}\n".format(*row))
    sys.stdout.write("\njobs/s  reads, one by one  reads, by ten  records/s  invocations/s  events/s\n")
    for jobs, shards in SHARDS.items():
        found = followed(jobs)
        reads = [busiest_read(jobs, shards, batch=batch) for batch in (1, 10)]
        row_of_reads = (jobs, *reads, found.records, found.invocations, found.events)
        sys.stdout.write("{:>6}  {:>17.0f}  {:>13.0f}  {:>9}  {:>13}  {:>8}\n".format(*row_of_reads))
    sys.stdout.write("\nidle, a month\n")
    for name, dollars in idle_month().items():
        sys.stdout.write(f"{name:>9}  {dollars:5.2f}\n")
    sys.stdout.write(f"{'all':>9}  {sum(idle_month().values()):5.2f}\n")


if __name__ == "__main__":
    main()
