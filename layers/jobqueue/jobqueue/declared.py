"""The names of queues and types that a caller sends: each must be one that the deployment declares."""

from __future__ import annotations

from collections.abc import Sequence

from jobqueue.errors import FieldError, InvalidRequest
from jobqueue.fielderrors import field_error
from jobqueue.jobtype import JobTypes
from jobqueue.principal import Principal


def type_errors(name: str | None, job_types: JobTypes) -> tuple[FieldError, ...]:
    """Return what is wrong with the name of a type; None names none."""
    if name is None or job_types.get(name) is not None:
        return ()
    return (field_error("type", "unknown_type", "is not a declared job type"),)


def queue_errors(name: str | None, job_types: JobTypes) -> tuple[FieldError, ...]:
    """Return what is wrong with the name of a queue; None names none."""
    if name is None or job_types.has_queue(name):
        return ()
    return (field_error("queue", "unknown_queue", "is not a declared queue"),)


def asked_queues(caller: Principal, asked: Sequence[str] | None, job_types: JobTypes) -> tuple[str, ...]:
    """Return the queues that a caller asks for, each once; None asks for all that are granted.

    Raises
    ------
    InvalidRequest
        One is not declared.
    QueueNotAllowed
        The caller has no grant for one.
    """
    if asked is None:
        return caller.granted(queue.name for queue in job_types.queues)
    if not all(map(job_types.has_queue, asked)):
        raise InvalidRequest(field_error("queues", "unknown_queue", "names a queue that is not declared"))
    for queue in asked:
        caller.require_queue(queue)
    return tuple(dict.fromkeys(asked))
