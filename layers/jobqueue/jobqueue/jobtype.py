"""How a deployment declares its queues and its types of job, and the policy of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

from jobqueue.errors import InvalidJobTypes
from jobqueue.settings import MAX_BACKOFF_BASE_SECONDS, MAX_BACKOFF_CAP_SECONDS

if TYPE_CHECKING:
    from pydantic import BaseModel

DEFAULT_QUEUE = "default"
MIN_LEASE_SECONDS = 5
MAX_LEASE_SECONDS = 12 * 60 * 60
MAX_RETRIES = 100

_QUEUE_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_TYPE_NAME = re.compile(r"[a-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How long a job may be held and how it is retried.

    Attributes
    ----------
    max_retries : int
        Retries after the first attempt, 0 to 100; a job may ask for another number.
    lease_seconds : int
        How long a claim holds the job without a heartbeat, 5 s to 12 h.
    backoff_base_seconds, backoff_cap_seconds : float or None
        A retry waits a random time up to ``min(cap, base * 2**retry_count)`` seconds; a base of 0
        retries at once. At most 86,400 s and 604,800 s; None takes the deployment's default.
    """

    max_retries: int = 3
    lease_seconds: int = 60
    backoff_base_seconds: float | None = None
    backoff_cap_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A declared queue: the unit of isolation.

    Attributes
    ----------
    name : str
        1 to 64 of ``a-z 0-9 _ -``.
    shards : int
        Over how many partitions of the index its jobs are spread. One gives strict first in, first
        out and about 500 jobs a second; it may grow on a live queue and must never shrink.
    """

    name: str
    shards: int = 1


@dataclass(frozen=True, kw_only=True)
class JobType:
    """A declared type of job.

    Attributes
    ----------
    name : str
        1 to 64 of ``a-z 0-9 _ . -``.
    payload : str
        Where the pydantic model of its payload is, as ``module:Model``. A name and not the class, so
        that functions that never validate a payload do not pay for importing pydantic.
    queue : str
        The queue that its jobs go to unless they name another declared one.
    policy : Policy
        Lease and retries.
    """

    name: str
    payload: str
    queue: str = DEFAULT_QUEUE
    policy: Policy = Policy()

    @cached_property
    def payload_model(self) -> type[BaseModel]:
        """The pydantic model that a payload of this type must fit."""
        model: type[BaseModel] = resolve_name(self.payload)
        return model


Declared = TypeVar("Declared", JobType, Queue)


class JobTypes:
    """The queues and types of a deployment.

    Parameters
    ----------
    types, queues : iterable
        What the deployment declares. The queue ``default`` always exists.

    Raises
    ------
    InvalidJobTypes
        If a name is malformed or declared twice, a type names an undeclared queue, or a policy is out
        of range.
    """

    def __init__(self, types: Iterable[JobType], queues: Iterable[Queue] = ()) -> None:
        self._queues = _by_name(queues)
        self._queues.setdefault(DEFAULT_QUEUE, Queue(name=DEFAULT_QUEUE))
        self._types = _by_name(types)
        for queue in self._queues.values():
            _check(_QUEUE_NAME.fullmatch(queue.name), f"queue {queue.name!r}: a malformed name")
            _check(1 <= queue.shards <= 1000, f"queue {queue.name!r}: shards must be 1 to 1000")
        for job_type in self._types.values():
            _check_type(job_type, self._queues)

    @property
    def queues(self) -> tuple[Queue, ...]:
        """All queues, by name."""
        return tuple(self._queues[name] for name in sorted(self._queues))

    @property
    def types(self) -> tuple[JobType, ...]:
        """All types, by name."""
        return tuple(self._types[name] for name in sorted(self._types))

    def get(self, name: str) -> JobType | None:
        """Return the type called `name`, or None."""
        return self._types.get(name)

    def has_queue(self, name: str) -> bool:
        """Tell whether a queue called `name` is declared."""
        return name in self._queues

    def shards(self, queue: str) -> int:
        """Return over how many shards `queue` is spread; an undeclared queue has one."""
        declared = self._queues.get(queue)
        return declared.shards if declared else 1

    def policy(self, name: str) -> Policy:
        """Return the policy of the type called `name`.

        A type that a later deployment removed gets the default policy: its jobs must still end.
        """
        declared = self._types.get(name)
        return declared.policy if declared else Policy()


def _check_type(job_type: JobType, queues: dict[str, Queue]) -> None:
    policy, where = job_type.policy, f"type {job_type.name!r}"
    base, cap = policy.backoff_base_seconds, policy.backoff_cap_seconds
    _check(_TYPE_NAME.fullmatch(job_type.name), f"{where}: a malformed name")
    _check(job_type.queue in queues, f"{where}: its queue {job_type.queue!r} is not declared")
    _check(0 <= policy.max_retries <= MAX_RETRIES, f"{where}: max_retries must be 0 to {MAX_RETRIES}")
    _check(
        MIN_LEASE_SECONDS <= policy.lease_seconds <= MAX_LEASE_SECONDS,
        f"{where}: lease_seconds must be {MIN_LEASE_SECONDS} to {MAX_LEASE_SECONDS}",
    )
    _check(
        base is None or 0 <= base <= MAX_BACKOFF_BASE_SECONDS,
        f"{where}: backoff_base_seconds must be 0 to {MAX_BACKOFF_BASE_SECONDS}",
    )
    _check(
        cap is None or 0 <= cap <= MAX_BACKOFF_CAP_SECONDS,
        f"{where}: backoff_cap_seconds must be 0 to {MAX_BACKOFF_CAP_SECONDS}",
    )


def _check(holds: object, message: str) -> None:
    if not holds:
        raise InvalidJobTypes(message)


def _by_name(declared: Iterable[Declared]) -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for one in declared:
        _check(one.name not in found, f"{one.name!r} is declared twice")
        found[one.name] = one
    return found
