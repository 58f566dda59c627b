"""The table of keys: two kinds of item under one partition key, ``key_hash``.

A key lies under its hash. A name lies under ``name#NAME`` and lists the hashes of all the keys that may
work under it. It is written before such a key is, so a command that stops half-way leaves nothing that
the next one does not find. Revoking *marks* a key, and marks its place where there is no key yet: a
hash once marked never becomes a working key, not by a slow process and not by a repeated write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobqueue.dynamodb import ConditionFailed, faults, names
from jobqueue.errors import CorruptKey, KeyChanged
from jobqueue.job import format_timestamp
from jobqueue.keys.apikey import ApiKey
from jobqueue.keys.item import Item, KeyName, is_key_item, key_item, name_item, name_key, read_key, read_name
from jobqueue.settings import text

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_IS_FREE = "attribute_not_exists(#key_hash)"
_IS_AS_SEEN = "#current = :seen"  # no other command changed the name since it was read
_IS_NO_LIVE_KEY = "(attribute_not_exists(#key_hash) OR attribute_exists(#revoked_at))"
_IS_FREE_OR_OURS = "(attribute_not_exists(#key_hash) OR #name = :name)"  # never another name's key
_IS_LIVE_KEY = "attribute_exists(#role) AND attribute_not_exists(#revoked_at)"
_LIVES_LONGER = "(attribute_not_exists(#replaced_at) OR #replaced_at > :until)"

_MARK = "SET #revoked_at = if_not_exists(#revoked_at, :now), #name = if_not_exists(#name, :name)"


class KeysTable:
    """Reads and writes the table of keys.

    Parameters
    ----------
    client : DynamoDBClient
        A DynamoDB client.
    name : str
        The name of the table.
    """

    def __init__(self, client: DynamoDBClient, name: str) -> None:
        self._client = client
        self._table = name

    def get(self, key_hash: str) -> ApiKey | None:
        """Return the key that lies under `key_hash`, whatever its state.

        The read is consistent. With the cheaper kind a key that is used right after it was made could
        be taken for unknown, and the gateway would remember that refusal.

        Raises
        ------
        CorruptKey
            If the item is not one that this package writes.
        Unavailable
            If DynamoDB does not answer.
        """
        item = self._read(key_hash)
        return read_key(item) if item is not None and is_key_item(item) else None

    def put(self, key: ApiKey) -> None:
        """Make `key` work.

        Raises
        ------
        KeyChanged
            If its place was marked: another command gave this one up.
        """
        try:
            self._put(key_item(key), _IS_FREE)
        except ConditionFailed as refused:
            # Without a mark it is this very key: the SDK repeated a write whose reply was lost.
            if refused.item is None or "revoked_at" in refused.item:
                raise KeyChanged from None

    def find_name(self, name: str) -> KeyName | None:
        """Return the keys of `name`, or None if the name is free."""
        item = self._read(name_key(name))
        return None if item is None else read_name(item)

    def reserve(self, wanted: KeyName) -> KeyName:
        """Take a name if it is free. Returns who has it now: `wanted`, or who was there before."""
        try:
            self._put(name_item(wanted), _IS_FREE)
        except ConditionFailed as refused:
            return read_name(refused.item) if refused.item else wanted
        return wanted

    def point(self, seen: KeyName, wanted: KeyName) -> None:
        """Change a name from what was `seen` to what is `wanted`.

        Raises
        ------
        KeyChanged
            If another command changed it meanwhile.
        """
        try:
            self._put(name_item(wanted), _IS_AS_SEEN, seen=seen.current)
        except ConditionFailed as refused:
            if refused.item is None or read_name(refused.item).current != wanted.current:
                raise KeyChanged from None

    def release(self, seen: KeyName) -> bool:
        """Free a name. Returns False if another command changed it meanwhile."""
        try:
            with faults():
                self._client.delete_item(
                    TableName=self._table,
                    Key={"key_hash": {"S": name_key(seen.name)}},
                    ConditionExpression=_IS_AS_SEEN,
                    ExpressionAttributeNames=names(_IS_AS_SEEN),
                    ExpressionAttributeValues={":seen": {"S": seen.current}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ConditionFailed as refused:
            return refused.item is None  # gone: by this very call, repeated, or by another
        return True

    def revoke(self, key_hash: str, name: str, now: datetime) -> None:
        """See to it that no key of `name` works under `key_hash`, now or later."""
        try:
            self._update(key_hash, _MARK, _IS_FREE_OR_OURS, now=format_timestamp(now), name=name)
        except ConditionFailed:
            raise CorruptKey(f"the key of {name} belongs to another name") from None

    def give_up(self, key_hash: str, name: str, now: datetime) -> bool:
        """See to it that no key works under `key_hash` later. Returns False if one does already."""
        try:
            self._update(key_hash, _MARK, _IS_NO_LIVE_KEY, now=format_timestamp(now), name=name)
        except ConditionFailed:
            return False
        return True

    def replace(self, key_hash: str, until: datetime) -> bool:
        """End a key at `until`, if it was not to end before. Returns False if no key stands there."""
        condition = f"{_IS_LIVE_KEY} AND {_LIVES_LONGER}"
        try:
            self._update(key_hash, "SET #replaced_at = :until", condition, until=format_timestamp(until))
        except ConditionFailed as refused:
            found = refused.item or {}
            return is_key_item(found) and "revoked_at" not in found
        return True

    def scan(self) -> Iterator[ApiKey]:
        """Yield all keys, whatever their state.

        A Scan is right here and only here: a person asks, the table has one small item a key, and an
        index for this one command would be paid for with every write. No function may scan.
        """
        pages = self._client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
        with faults():
            for page in pages:
                yield from (read_key(item) for item in page["Items"] if is_key_item(item))

    def _read(self, key_hash: str) -> Item | None:
        with faults():
            answer = self._client.get_item(
                TableName=self._table, Key={"key_hash": {"S": key_hash}}, ConsistentRead=True
            )
        return answer.get("Item")

    def _put(self, item: Item, condition: str, **values: str) -> None:
        request: dict[str, Any] = {"ExpressionAttributeValues": _strings(values)} if values else {}
        with faults():
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression=condition,
                ExpressionAttributeNames=names(condition),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **request,
            )

    def _update(self, key_hash: str, change: str, condition: str, **values: str) -> None:
        with faults():
            self._client.update_item(
                TableName=self._table,
                Key={"key_hash": {"S": key_hash}},
                UpdateExpression=change,
                ConditionExpression=condition,
                ExpressionAttributeNames=names(change + condition),
                ExpressionAttributeValues=_strings(values),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )


def open_keys_table(client: DynamoDBClient | None = None, table: str | None = None) -> KeysTable:
    """Open the table that ``API_KEYS_TABLE`` names, unless `table` does.

    Raises
    ------
    InvalidSettings
        If neither names one.
    """
    import boto3

    name = table or text(os.environ, "API_KEYS_TABLE")
    return KeysTable(client or boto3.client("dynamodb"), name)


def _strings(values: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {f":{name}": {"S": value} for name, value in values.items()}
