"""One conditional update of DynamoDB: how it is worded, and what its failures mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from jobqueue.errors import JobQueueError, Unavailable
from jobqueue.item import to_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONFIG = Config(
    # a request waits at most 29 s: four tries with their backoff end well before
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=50,
    tcp_keepalive=True,
)

_TRANSIENT = frozenset(
    {
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_REFUSED = "ConditionalCheckFailedException"


class ConditionFailed(JobQueueError):
    """The condition of a write did not hold. `item` is what was found, or None."""

    def __init__(self, item: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.item = item


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What one UpdateItem expects and changes. Names and values are only ever bound, never spelled out.

    Attributes
    ----------
    key : mapping
        Of the item.
    conditions : sequence of str
        All must hold. They name attributes as ``#name`` and values as ``:name``.
    values : mapping
        What the conditions compare with.
    sets : mapping
        New values by attribute; those that are None stay as they are. Conditions may use them as well.
    copies : mapping
        Attributes that take the value of another one: ``{to: from}``.
    appends : mapping
        Lists that grow by one element.
    counts : sequence of str
        Numbers that grow by one.
    removes : sequence of str
        Attributes to remove.
    """

    key: Mapping[str, Any]
    conditions: Sequence[str]
    values: Mapping[str, Any]
    sets: Mapping[str, Any]
    copies: Mapping[str, str] = field(default_factory=dict)
    appends: Mapping[str, Any] = field(default_factory=dict)
    counts: Sequence[str] = ()
    removes: Sequence[str] = ()

    def request(self) -> dict[str, Any]:
        """Return the arguments of UpdateItem, but for the table."""
        kept = {name: value for name, value in self.sets.items() if value is not None}
        bound: dict[str, Any] = {**self.values, **kept}
        changes = [f"#{name} = :{name}" for name in kept]
        changes += [f"#{name} = #{source}" for name, source in self.copies.items()]
        for name in self.counts:
            changes.append(f"#{name} = #{name} + :one")
            bound["one"] = 1
        for name, element in self.appends.items():
            changes.append(f"#{name} = list_append(if_not_exists(#{name}, :empty), :more_{name})")
            bound |= {"empty": [], f"more_{name}": [element]}
        update = "SET " + ", ".join(changes)
        if self.removes:
            update += " REMOVE " + ", ".join(f"#{name}" for name in dict.fromkeys(self.removes))
        condition = " AND ".join(self.conditions)
        return {
            "Key": to_item(self.key),
            "UpdateExpression": update,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names(update + condition),
            "ExpressionAttributeValues": to_item({f":{name}": value for name, value in bound.items()}),
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }


def make_client() -> DynamoDBClient:
    """Make a client whose timeouts are shorter than a function's, and whose retries have jitter."""
    client: DynamoDBClient = boto3.client("dynamodb", config=CONFIG)
    return client


def names(expression: str) -> dict[str, str]:
    """Return the attribute names that `expression` uses as ``#name``, as DynamoDB wants them."""
    return {name: name[1:] for name in re.findall(r"#\w+", expression)}


@contextmanager
def faults() -> Iterator[None]:
    """Turn what the SDK raises, after its own retries, into this package's errors.

    Raises
    ------
    ConditionFailed
        A condition did not hold.
    Unavailable
        DynamoDB was busy, failed or was out of reach. A write may have landed all the same.
    """
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code == _REFUSED:
            raise ConditionFailed(_found(error)) from None
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _TRANSIENT or status >= 500:
            raise Unavailable from error
        raise
    except BotoCoreError as error:  # timeouts, connections that broke, an endpoint out of reach
        raise Unavailable from error


def _found(error: ClientError) -> Mapping[str, Any] | None:
    response: Mapping[str, Any] = error.response
    return response.get("Item")
