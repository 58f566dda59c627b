"""Many followers count at once: the shards of the stream, each with batches that come twice."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from jobqueue.queues import COUNTERS, REMEMBERED_BATCHES, QueuesTable
from tests.support.office import QUEUES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SHARDS = 8
BATCHES = 40


def test_counts_of_many_followers(client: DynamoDBClient) -> None:
    table = QueuesTable(client, QUEUES)
    rng = random.Random(4)
    batches = {
        f"{shard:02x}{number:010x}": {rng.choice(COUNTERS): rng.randint(-3, 3) or 1}
        for shard in range(SHARDS)
        for number in range(BATCHES)
    }

    def follow(shard: int) -> int:
        landed = 0
        for number in range(BATCHES):
            batch = f"{shard:02x}{number:010x}"
            # each comes twice, the second time at once, as Lambda does it when the first answer was lost
            landed += table.count("default", batches[batch], batch)
            landed += table.count("default", batches[batch], batch)
        return landed

    with ThreadPoolExecutor(SHARDS) as pool:
        assert sum(pool.map(follow, range(SHARDS))) == len(batches)
    expected: Counter[str] = Counter()
    for changes in batches.values():
        expected.update(changes)
    record = table.read(["default"])["default"]
    assert record.counts == {name: expected[name] for name in COUNTERS}
    assert REMEMBERED_BATCHES <= len(record.batches) < 2 * REMEMBERED_BATCHES + SHARDS
