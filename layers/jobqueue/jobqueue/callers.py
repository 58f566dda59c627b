"""The callers table: the only module that knows it. One item for each caller and window of time: a count.

An item matters while its window lasts; DynamoDB deletes it some time later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from jobqueue.dynamodb import ConditionFailed, faults, names
from jobqueue.errors import InvalidSettings
from jobqueue.item import to_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

COUNTED = "ADD #count :one SET #expires_at = :expires_at"
IS_BELOW_LIMIT = "attribute_not_exists(#caller) OR #count < :most"


class CallersTable:
    """Counts in the callers table.

    Parameters
    ----------
    client : DynamoDB client
        Its timeouts and retries are the caller's choice.
    name : str
        The table's name.
    """

    def __init__(self, client: DynamoDBClient, name: str) -> None:
        self._client = client
        self._name = name

    def count(self, caller: str, window: int, *, most: int, expires_at: int) -> bool:
        """Count one request, unless `most` were counted before; tell whether it was counted.

        A write whose reply is lost is repeated by the SDK and counts twice, or is refused by its own success:
        that is a request less for the caller, and never one more.

        Parameters
        ----------
        caller : str
            The principal's id, at most 772 characters: the item stays below a kilobyte, one write unit.
        window : int
            The number of the window of time.
        most : int
            How many requests the window has room for.
        expires_at : int
            When the item may go, in seconds since the epoch.

        Raises
        ------
        Unavailable
            DynamoDB was busy, failed or was out of reach.
        InvalidSettings
            The table is not there, or may not be written.
        """
        bound = {":one": 1, ":expires_at": expires_at, ":most": most}
        try:
            with faults():
                self._client.update_item(
                    TableName=self._name,
                    # an id may hold a # itself: the window is what comes after the last one
                    Key={"caller": {"S": f"{caller}#{window}"}},
                    UpdateExpression=COUNTED,
                    ConditionExpression=IS_BELOW_LIMIT,
                    ExpressionAttributeNames=names(COUNTED + IS_BELOW_LIMIT),
                    ExpressionAttributeValues=to_item(bound),
                )
        except ConditionFailed:
            return False
        except ClientError as error:
            raise InvalidSettings("CALLERS_TABLE names no table that can be written") from error
        return True
