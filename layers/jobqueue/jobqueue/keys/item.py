"""How a key, and a name in use, are written as items of the table of keys and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from jobqueue.errors import CorruptKey, InvalidKeyGrant
from jobqueue.job import JobPriority, format_timestamp, parse_timestamp
from jobqueue.keys.apikey import ApiKey, checked_name
from jobqueue.principal import Role, is_grant

Item: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyName:
    """A name in use.

    Attributes
    ----------
    name : str
        The name.
    current : str
        The hash of its key.
    former : frozenset of str
        The hashes of keys that a rotation replaced and that may still work.
    """

    name: str
    current: str
    former: frozenset[str] = frozenset()

    @property
    def hashes(self) -> tuple[str, ...]:
        """All hashes under which a key of this name may lie, the current one first."""
        return (self.current, *sorted(self.former))


def name_key(name: str) -> str:
    """Return where the item of `name` lies. No hash has a ``#``, so no credential leads there."""
    return f"name#{name}"


def key_item(key: ApiKey) -> dict[str, Any]:
    """Write a key that was not revoked."""
    item: dict[str, Any] = {
        "key_hash": {"S": key.key_hash},
        "name": {"S": key.name},
        "role": {"S": key.role.value},
        "queues": {"SS": sorted(key.queues)},
        "max_priority": {"S": key.max_priority.value},
        "created_at": {"S": format_timestamp(key.created_at)},
    }
    if key.expires_at is not None:
        item["expires_at"] = {"S": format_timestamp(key.expires_at)}
    return item


def is_key_item(item: Item) -> bool:
    """Tell a key from a name, and from a mark that was left where no key ever was."""
    return "role" in item


def read_key(item: Item) -> ApiKey:
    """Read a key.

    Raises
    ------
    CorruptKey
        If anything about it is odd: a key grants only what it says in so many words.
    """
    try:
        queues = frozenset(item["queues"]["SS"])
        if not is_grant(queues):
            raise CorruptKey
        return ApiKey(
            key_hash=item["key_hash"]["S"],
            name=checked_name(item["name"]["S"]),
            role=Role(item["role"]["S"]),
            queues=queues,
            max_priority=JobPriority(item["max_priority"]["S"]),
            created_at=parse_timestamp(item["created_at"]["S"]),
            expires_at=_moment(item, "expires_at"),
            replaced_at=_moment(item, "replaced_at"),
            revoked_at=_moment(item, "revoked_at"),
        )
    except (KeyError, TypeError, ValueError, InvalidKeyGrant):
        raise CorruptKey from None


def name_item(name: KeyName) -> dict[str, Any]:
    """Write a name in use."""
    item: dict[str, Any] = {
        "key_hash": {"S": name_key(name.name)},
        "name": {"S": name.name},
        "current": {"S": name.current},
    }
    if name.former:
        item["former"] = {"SS": sorted(name.former)}
    return item


def read_name(item: Item) -> KeyName:
    """Read a name in use."""
    former = item.get("former", {"SS": ()})
    return KeyName(name=item["name"]["S"], current=item["current"]["S"], former=frozenset(former["SS"]))


def _moment(item: Item, attribute: str) -> datetime | None:
    return parse_timestamp(item[attribute]["S"]) if attribute in item else None
