"""What the stream of a table tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import boto3

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Records = list[dict[str, Any]]


class Stream:
    """The stream of a table, read on from where it was read to.

    Parameters
    ----------
    client : DynamoDB client
        Of an engine that has the table. Its stream is looked for at the same endpoint, in the same account.
    table : str
        Its name.
    since : str
        ``TRIM_HORIZON``, from its beginning, or ``LATEST``, from now on.
    """

    def __init__(
        self, client: DynamoDBClient, table: str, since: Literal["TRIM_HORIZON", "LATEST"] = "TRIM_HORIZON"
    ) -> None:
        address, private = client.meta.endpoint_url, cast(Any, client)
        self._reader: Any = boto3.client(
            "dynamodbstreams",
            endpoint_url=address if "://127." in address else None,
            aws_access_key_id=private._request_signer._credentials.access_key,
            aws_secret_access_key="none",
        )
        arn = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        (shard,) = self._reader.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._next: str = self._reader.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType=since
        )["ShardIterator"]

    def read(self) -> Records:
        """Return what it tells that was not read before, up to one page."""
        told = self._reader.get_records(ShardIterator=self._next)
        self._next = told["NextShardIterator"]
        records: Records = told["Records"]
        return records
