"""Who calls, in tests that have no authorizer in front of them."""

from __future__ import annotations

from jobqueue.job import JobPriority
from jobqueue.principal import ALL_QUEUES, Principal, Role


def principal(role: Role, name: str, *queues: str, max_priority: JobPriority) -> Principal:
    """Make a caller; without `queues` it is granted all."""
    return Principal(
        id=f"key:{name}",
        role=role,
        queues=frozenset(queues or {ALL_QUEUES}),
        max_priority=max_priority,
    )


def producer(name: str = "shop", *queues: str, max_priority: JobPriority = JobPriority.MEDIUM) -> Principal:
    return principal(Role.PRODUCER, name, *queues, max_priority=max_priority)


def worker(name: str = "mailer", *queues: str) -> Principal:
    return principal(Role.WORKER, name, *queues, max_priority=JobPriority.LOW)


def admin(name: str = "ops", *queues: str) -> Principal:
    return principal(Role.ADMIN, name, *queues, max_priority=JobPriority.CRITICAL)
