"""What a person does with keys: make, list, rotate and revoke them.

No command is one write, and none is a transaction. So each writes down first which hash it is about to
use under the name, then makes the key, and an error before the end gives that key up again: a key that
was not handed to anybody does not work, and whatever a crash leaves, the next command clears away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from jobqueue.errors import InvalidKeyGrant, JobQueueError, KeyChanged, KeyNameTaken, KeyNotFound
from jobqueue.job import Clock, utc_now
from jobqueue.keys.apikey import ApiKey, checked_name, granted_key, hash_key, new_key
from jobqueue.keys.item import KeyName
from jobqueue.keys.table import KeysTable, open_keys_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_GRACE_MINUTES = 7 * 24 * 60

_TRIES = 5


class Keyring:
    """The keys of a deployment.

    Parameters
    ----------
    table : KeysTable
        Where they are kept.
    clock : Clock
        Tells the time.
    """

    def __init__(self, table: KeysTable, clock: Clock = utc_now) -> None:
        self._table = table
        self._clock = clock

    def create(
        self,
        name: str,
        *,
        role: str,
        queues: Iterable[str] = ("*",),
        max_priority: str | None = None,
        expires_in_days: float | None = None,
    ) -> str:
        """Make a key. See `create_key`."""
        secret, now = new_key(), self._clock()
        key = granted_key(
            name,
            key_hash=hash_key(secret),
            role=role,
            queues=queues,
            max_priority=max_priority,
            expires_in_days=expires_in_days,
            now=now,
        )
        wanted = KeyName(name=name, current=key.key_hash)
        holder = self._table.reserve(wanted)
        if holder.current != wanted.current:
            self._take_over(holder, wanted, now)
        with self._given_up_on_failure(key):
            self._table.put(key)
        return secret

    def rotate(self, name: str, *, grace_minutes: float = 0) -> str:
        """Replace the key of `name` by a new one with the same grants and as long a life.

        Parameters
        ----------
        name : str
            Whose key.
        grace_minutes : float
            How long the old key goes on working beside the new one, at most seven days.

        Returns
        -------
        str
            The new key. It cannot be had again.

        Raises
        ------
        KeyNotFound
            If no key has that name.
        KeyChanged
            If another command changed the key at the same time.
        InvalidKeyGrant
            If the name or the grace is not acceptable.
        Unavailable
            If DynamoDB does not answer. The new key is given up; the old one may have stopped.
        """
        if not 0 <= grace_minutes <= MAX_GRACE_MINUTES:
            raise InvalidKeyGrant(f"an old key can go on for 0 to {MAX_GRACE_MINUTES} minutes")
        seen = self._table.find_name(checked_name(name))
        model = self._model(seen) if seen else None
        if seen is None or model is None:
            raise KeyNotFound(f"no key is called {name}")
        secret, now = new_key(), self._clock()
        key = model.renewed(hash_key(secret), now)
        wanted = KeyName(name=name, current=key.key_hash, former=frozenset(seen.hashes))
        self._table.point(seen, wanted)
        with self._given_up_on_failure(key):
            self._table.put(key)
            until = now + timedelta(minutes=grace_minutes)
            left = frozenset(former for former in wanted.former if self._retire(former, name, now, until))
        with suppress(JobQueueError):  # all is done but to forget the former keys; the next command can
            self._table.point(wanted, replace(wanted, former=left))
        return secret

    def revoke(self, name: str) -> None:
        """Make every key of `name` stop, and free the name.

        Answers of the authorizer that the API remembers live on for `AuthorizerTtlSeconds`.

        Raises
        ------
        KeyNotFound
            If no key has that name.
        KeyChanged
            If other commands change the key all the time.
        Unavailable
            If DynamoDB does not answer. The same command again does the rest.
        """
        checked_name(name)
        for turn in range(_TRIES):
            seen = self._table.find_name(name)
            if seen is None:
                if turn == 0:
                    raise KeyNotFound(f"no key is called {name}")
                return
            for key_hash in seen.hashes:
                self._table.revoke(key_hash, name, self._clock())
            if self._table.release(seen):
                return
        raise KeyChanged

    def list_keys(self) -> list[ApiKey]:
        """Return the keys that were not revoked, by name, the newest first."""
        keys = [key for key in self._table.scan() if key.revoked_at is None]
        keys.sort(key=lambda key: key.created_at, reverse=True)
        return sorted(keys, key=lambda key: key.name)

    def _take_over(self, holder: KeyName, wanted: KeyName, now: datetime) -> None:
        """Take the name of a command that never came to its end, or find that its key works."""
        taken = KeyNameTaken(f"a key is called {wanted.name} already: rotate it, or revoke it first")
        if any(self._stands(key_hash) for key_hash in holder.hashes):
            raise taken
        for key_hash in holder.hashes:
            if not self._table.give_up(key_hash, wanted.name, now):
                raise taken
        self._table.point(holder, wanted)

    def _stands(self, key_hash: str) -> bool:
        key = self._table.get(key_hash)
        return key is not None and key.revoked_at is None

    def _model(self, seen: KeyName) -> ApiKey | None:
        """Return the key whose grants the next one takes over: a standing one, if there is one."""
        found = [key for key_hash in seen.hashes if (key := self._table.get(key_hash)) is not None]
        standing = [key for key in found if key.revoked_at is None]
        return max(standing or found, key=lambda key: key.created_at, default=None)

    def _retire(self, key_hash: str, name: str, now: datetime, until: datetime) -> bool:
        """End a former key at `until`. Returns whether it may work until then."""
        if until > now and self._table.replace(key_hash, until):
            return True
        self._table.revoke(key_hash, name, now)
        return False

    @contextmanager
    def _given_up_on_failure(self, key: ApiKey) -> Iterator[None]:
        try:
            yield
        except BaseException:
            # Its write may have landed all the same, and nobody will ever be told this key.
            with suppress(JobQueueError, ClientError):
                self._table.revoke(key.key_hash, key.name, self._clock())
            raise


def open_keyring(
    *, client: DynamoDBClient | None = None, table: str | None = None, clock: Clock = utc_now
) -> Keyring:
    """Open the keys of the deployment that ``API_KEYS_TABLE`` names, unless `table` does.

    Raises
    ------
    InvalidSettings
        If neither names a table.
    """
    return Keyring(open_keys_table(client, table), clock)


def create_key(
    name: str,
    role: str,
    queues: Iterable[str] = ("*",),
    max_priority: str | None = None,
    expires_in_days: float | None = None,
    *,
    client: DynamoDBClient | None = None,
    table: str | None = None,
    clock: Clock = utc_now,
) -> str:
    """Make an API key and return it. It is stored as a hash only and cannot be had again.

    Parameters
    ----------
    name : str
        What it is called, 1 to 64 of ``a-z 0-9 . _ -``. Its bearer is the principal ``key:NAME``.
    role : str
        ``producer``, ``worker`` or ``admin``.
    queues : iterable of str
        The queues it is granted, or just ``*`` for all of them.
    max_priority : str or None
        The highest priority it may enqueue with. None: ``medium`` for a producer.
    expires_in_days : float or None
        How long it works, at most 3,650 days. None: until it is revoked.
    client, table, clock
        What to use instead of a DynamoDB client of the environment, of the table that
        ``API_KEYS_TABLE`` names, and of the time.

    Returns
    -------
    str
        The key: ``jq_`` and 43 characters.

    Raises
    ------
    InvalidKeyGrant
        If a value is not acceptable.
    KeyNameTaken
        If a key has that name.
    KeyChanged
        If another command takes the name at the same time.
    InvalidSettings
        If no table is named.
    Unavailable
        If DynamoDB does not answer. No key was made.
    """
    keyring = open_keyring(client=client, table=table, clock=clock)
    return keyring.create(
        name, role=role, queues=queues, max_priority=max_priority, expires_in_days=expires_in_days
    )
