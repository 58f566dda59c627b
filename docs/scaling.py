"""The arithmetic of `scaling.md`, and a simulation that checks it.

Run it with ``PYTHONPATH=layers/jobqueue .venv/bin/python docs/scaling.py``.

A second of a queue is played through: so many jobs are enqueued, claimed and completed, each in the shard
that its id gives it, and the writes of every lane are counted. What a lane takes at most is what DynamoDB
publishes for one partition.
"""

from __future__ import annotations

import sys
from collections import Counter

from jobqueue.job import keyed_job_id
from jobqueue.lanes import shard_of

PARTITION_WRITES = 1000
"""Write units a second that one partition takes at most."""

TABLE_WRITES = 40_000
"""Write units a second that an on-demand table, or an index of it, takes by the default quota."""

WRITES_OF_A_JOB = {"pending": 2, "running": 2, "completed": 1}
"""Writes to the lanes that a job goes through: into each, and out of the first two."""

TABLE_WRITES_OF_A_JOB = 3
"""Writes to the table: enqueue, claim, complete. An item of up to 1 KB."""

SHARDS = {100: 1, 1_000: 3, 10_000: 25}
"""What `scaling.md` says to set for so many jobs a second."""


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


def busiest_lane(jobs: int, shards: int) -> int:
    """Play one second and return the writes of the lane that takes the most."""
    writes: Counter[tuple[str, int]] = Counter()
    for number in range(jobs):
        shard = shard_of(keyed_job_id("key:producer", str(number)), shards)
        for state, count in WRITES_OF_A_JOB.items():
            writes[state, shard] += count
    return max(writes.values())


def main() -> None:
    """Print the table of `scaling.md`."""
    rows = [
        (jobs, shards, busiest_lane(jobs, shards), index_writes(jobs), table_writes(jobs))
        for jobs, shards in SHARDS.items()
    ]
    sys.stdout.write("jobs/s  shards  busiest lane  index WRU/s  table WRU/s\n")
    for row in rows:
        sys.stdout.write("{:>6}  {:>6}  {:>12}  {:>11}  {:>11}\n".format(*row))


if __name__ == "__main__":
    main()
