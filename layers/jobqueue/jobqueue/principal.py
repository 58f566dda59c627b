"""Who is calling, and what they may do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from jobqueue.errors import QueueNotAllowed, RoleNotAllowed
from jobqueue.job import JobPriority

ALL_QUEUES = "*"

_QUEUE = re.compile(r"[a-z0-9_-]{1,64}")


class Role(StrEnum):
    """What a principal is for."""

    PRODUCER = "producer"
    WORKER = "worker"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller.

    Attributes
    ----------
    id : str
        ``key:NAME``, ``jwt:ISSUER#SUBJECT`` or ``internal:FUNCTION``. Becomes `created_by` and
        `worker_id`.
    role : Role
        What it may do.
    queues : frozenset of str
        The queues it is granted, or just ``*`` for all of them.
    max_priority : JobPriority
        The highest priority that it may enqueue with.
    """

    id: str
    role: Role
    queues: frozenset[str]
    max_priority: JobPriority

    def may_use(self, queue: str) -> bool:
        """Tell whether `queue` is granted."""
        return ALL_QUEUES in self.queues or queue in self.queues

    def require_role(self, *roles: Role) -> None:
        """Raise `RoleNotAllowed` unless the principal has one of `roles`."""
        if self.role not in roles:
            raise RoleNotAllowed

    def require_queue(self, queue: str) -> None:
        """Raise `QueueNotAllowed` unless `queue` is granted."""
        if not self.may_use(queue):
            raise QueueNotAllowed

    def granted(self, queues: Iterable[str]) -> tuple[str, ...]:
        """Return those of `queues` that are granted, in their order."""
        return tuple(queue for queue in queues if self.may_use(queue))


def is_grant(queues: frozenset[str]) -> bool:
    """Tell whether `queues` is a grant: some queues by name, or just ``*``."""
    return queues == {ALL_QUEUES} or (bool(queues) and all(map(_QUEUE.fullmatch, queues)))
