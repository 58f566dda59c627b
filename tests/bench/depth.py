"""What a claim costs while ten, a thousand or a hundred thousand jobs wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from jobqueue.item import new_job_attributes, to_item
from jobqueue.job import new_job_id, utc_now
from jobqueue.lanes import Lanes, order
from tests.bench.life import ADMIN, JOB_TYPES, open_bench_queue
from tests.bench.meter import Bill, Meter
from tests.support.samples import a_job

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CLAIMS = 10
_PUT_AT_ONCE = 25


def claim_at(client: DynamoDBClient, waiting: int) -> Bill:
    """Measure a claim from a lane of `waiting` jobs."""
    queue = open_bench_queue(client)
    fill(client, "jobs", waiting)
    with Meter(client).measure() as bill:
        for _ in range(CLAIMS):
            queue.claim(ADMIN)
    return bill.per(CLAIMS)


def fill(client: DynamoDBClient, table: str, jobs: int) -> None:
    """Put waiting jobs into the table, in batches: enqueuing a hundred thousand one by one takes minutes."""
    lanes, now = Lanes(JOB_TYPES), utc_now()

    def item(number: int) -> dict[str, Any]:
        moment = now - timedelta(milliseconds=jobs - number)
        job = a_job(
            id=new_job_id(moment),
            type="bench",
            available_at=moment,
            created_by=ADMIN.id,
            created_at=moment,
            updated_at=moment,
        )
        place = {"rev": 0, "lane": lanes.of_pending(job), "lane_order": order(moment, job.id)}
        return to_item({**new_job_attributes(job), **place})

    def put(first: int) -> None:
        puts: Any = [
            {"PutRequest": {"Item": item(number)}} for number in range(first, min(first + _PUT_AT_ONCE, jobs))
        ]
        client.batch_write_item(RequestItems={table: puts})

    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(put, range(0, jobs, _PUT_AT_ONCE)))
