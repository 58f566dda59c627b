"""What an API key is and what it grants: pure rules, no table."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from jobqueue.errors import InvalidKeyGrant
from jobqueue.job import JobPriority
from jobqueue.principal import Principal, Role, is_grant

MAX_LIFETIME_DAYS = 3650

DEFAULT_MAX_PRIORITY = {
    Role.PRODUCER: JobPriority.MEDIUM,
    Role.WORKER: JobPriority.LOW,  # never asked for: a worker cannot enqueue
    Role.ADMIN: JobPriority.CRITICAL,
}

_PREFIX = "jq_"  # lets secret scanners, and our own redaction, know a key when they see one
_KEY = re.compile(r"jq_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[a-z0-9._-]{1,64}")


class KeyState(StrEnum):
    """Whether a key opens the door, and if not, why."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as it is stored: everything but the key itself.

    Attributes
    ----------
    key_hash : str
        SHA-256 of the key, in hexadecimal. Looking a key up by its hash leaves nothing to compare, so
        nothing to time; and 256 random bits need no salt and no slow hash.
    name : str
        1 to 64 of ``a-z 0-9 . _ -``. Unique, and kept when the key is rotated.
    role : Role
        What its bearer may do.
    queues : frozenset of str
        The queues it is granted, or just ``*`` for all of them.
    max_priority : JobPriority
        The highest priority that its bearer may enqueue with.
    created_at : datetime
        When it was made, in UTC.
    expires_at : datetime or None
        From when on it is refused, in UTC.
    replaced_at : datetime or None
        From when on it is refused because a rotation replaced it, in UTC. Kept apart from `expires_at`,
        from which the next key takes its length of life.
    revoked_at : datetime or None
        When it was taken back, in UTC.
    """

    key_hash: str
    name: str
    role: Role
    queues: frozenset[str]
    max_priority: JobPriority
    created_at: datetime
    expires_at: datetime | None = None
    replaced_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def ends_at(self) -> datetime | None:
        """From when on it is refused, for whatever reason."""
        return min(filter(None, (self.expires_at, self.replaced_at, self.revoked_at)), default=None)

    @property
    def principal(self) -> Principal:
        """Who the bearer of the key is."""
        return Principal(
            id=f"key:{self.name}",
            role=self.role,
            queues=self.queues,
            max_priority=self.max_priority,
        )

    def state(self, now: datetime) -> KeyState:
        """Tell whether the key works at `now`."""
        if self.revoked_at is not None:
            return KeyState.REVOKED
        return KeyState.ACTIVE if self.ends_at is None or now < self.ends_at else KeyState.EXPIRED

    def renewed(self, key_hash: str, now: datetime) -> ApiKey:
        """Return the key that follows this one: the same name and grants, and as long a life."""
        expires_at = None if self.expires_at is None else now + (self.expires_at - self.created_at)
        return replace(
            self,
            key_hash=key_hash,
            created_at=now,
            expires_at=expires_at,
            replaced_at=None,
            revoked_at=None,
        )


def new_key() -> str:
    """Make a key: ``jq_`` and 256 random bits as 43 URL-safe characters."""
    return _PREFIX + secrets.token_urlsafe(32)


def is_key(text: str) -> bool:
    """Tell whether `text` has the form of a key."""
    return _KEY.fullmatch(text) is not None


def hash_key(key: str) -> str:
    """Return what is stored of `key`: its SHA-256, as 64 hexadecimal digits."""
    return hashlib.sha256(key.encode()).hexdigest()


def granted_key(
    name: str,
    *,
    key_hash: str,
    role: str,
    queues: Iterable[str],
    max_priority: str | None,
    expires_in_days: float | None,
    now: datetime,
) -> ApiKey:
    """Describe a new key by what a person asked for.

    Raises
    ------
    InvalidKeyGrant
        If a value is not acceptable; the message says which, and what would be.
    """
    granted_role = _role(role)
    return ApiKey(
        key_hash=key_hash,
        name=checked_name(name),
        role=granted_role,
        queues=_queues(queues),
        max_priority=_max_priority(max_priority, granted_role),
        created_at=now,
        expires_at=None if expires_in_days is None else now + _lifetime(expires_in_days),
    )


def checked_name(name: str) -> str:
    """Return `name`, or raise `InvalidKeyGrant` if no key can be called that."""
    if not _NAME.fullmatch(name):
        raise InvalidKeyGrant("a key's name has 1 to 64 of the characters a-z 0-9 . _ -")
    return name


def _role(role: str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise InvalidKeyGrant(f"a key's role is one of {', '.join(Role)}") from None


def _queues(queues: Iterable[str]) -> frozenset[str]:
    if isinstance(queues, str):  # a str is an Iterable of str: "emails" would grant six queues
        raise InvalidKeyGrant("a key's queues are a list of names")
    granted = frozenset(queues)
    if not granted:
        raise InvalidKeyGrant("a key is granted at least one queue, or '*' for all of them")
    if not is_grant(granted):
        raise InvalidKeyGrant("a queue's name has 1 to 64 of the characters a-z 0-9 _ -; '*' stands alone")
    return granted


def _max_priority(max_priority: str | None, role: Role) -> JobPriority:
    if max_priority is None:
        return DEFAULT_MAX_PRIORITY[role]
    if role is Role.WORKER:
        raise InvalidKeyGrant("a worker enqueues nothing, so it has no highest priority")
    try:
        return JobPriority(max_priority.lower())
    except ValueError:
        raise InvalidKeyGrant(f"a key's highest priority is one of {', '.join(JobPriority)}") from None


def _lifetime(days: float) -> timedelta:
    if not 0 < days <= MAX_LIFETIME_DAYS:  # also false for NaN
        raise InvalidKeyGrant(f"a key expires in more than 0 and at most {MAX_LIFETIME_DAYS} days, or never")
    return timedelta(days=days)
