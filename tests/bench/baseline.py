"""The same life of a job as AWS's own sample of a priority queue on DynamoDB leads it.

Its sequence of calls, its one index with every attribute and one partition key for the whole queue, and its
eventually consistent reads, written anew from
https://github.com/aws-samples/amazon-dynamodb-implementing-priority-queuing (`QueueSdkClient`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "sample"
INDEX = "queued-last_updated_timestamp-index"
PEEKED = 250
_NAMES = {"#sys": "system_info", "#v": "version", "#st": "status"}


class SampleQueue:
    """The sample's queue.

    Parameters
    ----------
    client : DynamoDB client
        Where the table is made.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[
                {"AttributeName": "id", "AttributeType": "S"},
                {"AttributeName": "queued", "AttributeType": "N"},
                {"AttributeName": "last_updated_timestamp", "AttributeType": "S"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": INDEX,
                    "KeySchema": [
                        {"AttributeName": "queued", "KeyType": "HASH"},
                        {"AttributeName": "last_updated_timestamp", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )

    def enqueue(self, job_id: str, payload: str) -> None:
        """Put a record and queue it: read, write, read, write, read."""
        self._get(job_id)
        self._client.put_item(
            TableName=TABLE,
            Item={
                "id": {"S": job_id},
                "data": {"S": payload},
                "last_updated_timestamp": {"S": _now()},
                "system_info": {
                    "M": {
                        "id": {"S": job_id},
                        "version": {"N": "1"},
                        "status": {"S": "READY_TO_SHIP"},
                        "creation_timestamp": {"S": _now()},
                        "last_updated_timestamp": {"S": _now()},
                        "queued": {"N": "0"},
                        "queue_selected": {"BOOL": False},
                    }
                },
            },
        )
        version = self._version(self._get(job_id))
        self._update(
            job_id,
            version,
            "queued = :one, #sys.queued = :one, #sys.queue_selected = :false, last_updated_timestamp = :now,"
            " #sys.last_updated_timestamp = :now, #sys.queue_added_timestamp = :now, #sys.#st = :st",
            {":false": {"BOOL": False}, ":st": {"S": "READY_TO_SHIP"}},
        )
        self._get(job_id)

    def peek(self) -> str:
        """Take the oldest record that nobody has taken: query, read, write, read."""
        page = self._client.query(
            TableName=TABLE,
            IndexName=INDEX,
            ProjectionExpression="id, queued, system_info",
            KeyConditionExpression="queued = :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
            Limit=PEEKED,
        )
        chosen = next(item for item in page["Items"] if "peek_utc_timestamp" not in item["system_info"]["M"])
        job_id = chosen["id"]["S"]
        self._get(job_id)
        self._update(
            job_id,
            self._version(chosen),
            "#sys.queue_selected = :true, #sys.last_updated_timestamp = :now,"
            " #sys.queue_peek_timestamp = :now, #sys.peek_utc_timestamp = :one, #sys.#st = :st",
            {":true": {"BOOL": True}, ":st": {"S": "PROCESSING_SHIPMENT"}},
        )
        self._get(job_id)
        return job_id

    def remove(self, job_id: str) -> None:
        """Take a finished record out of the queue: read, write."""
        version = self._version(self._get(job_id))
        self._update(
            job_id,
            version,
            "#sys.queued = :zero, #sys.queue_selected = :false, last_updated_timestamp = :now,"
            " #sys.last_updated_timestamp = :now, #sys.queue_remove_timestamp = :now, #sys.#st = :st"
            " REMOVE queued",
            {":zero": {"N": "0"}, ":false": {"BOOL": False}, ":st": {"S": "COMPLETED"}},
        )

    def _get(self, job_id: str) -> Any:
        return self._client.get_item(TableName=TABLE, Key={"id": {"S": job_id}}).get("Item")

    def _update(self, job_id: str, version: str, sets: str, values: dict[str, Any]) -> None:
        bound = {":one": {"N": "1"}, ":v": {"N": version}, ":now": {"S": _now()}, **values}
        self._client.update_item(
            TableName=TABLE,
            Key={"id": {"S": job_id}},
            UpdateExpression=f"ADD #sys.#v :one SET {sets}",
            ConditionExpression="#sys.#v = :v",
            ExpressionAttributeNames=_NAMES,
            ExpressionAttributeValues=bound,
            ReturnValues="ALL_NEW",
        )

    @staticmethod
    def _version(item: Any) -> str:
        version: str = item["system_info"]["M"]["version"]["N"]
        return version


def _now() -> str:
    return datetime.now(UTC).isoformat()
