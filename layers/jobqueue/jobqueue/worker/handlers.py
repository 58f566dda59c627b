"""The handlers of a deployment: how they are written, found and called.

::

    @handles("thumbnail")
    def make_thumbnail(job: Job, payload: ThumbnailPayload) -> JsonObject:
        return {"url": ...}

A third parameter is the `Run`, for handlers that take long.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from jobqueue.errors import JobQueueError
from jobqueue.fielderrors import field_errors
from jobqueue.job import Job
from jobqueue.jobtype import JobType, JobTypes
from jobqueue.worker.outcomes import Discard
from jobqueue.worker.run import Run

if TYPE_CHECKING:
    from pydantic import BaseModel

Function = TypeVar("Function", bound=Callable[..., Any])

_HANDLED = "__handles_job_types__"
_WITHOUT_RUN, _WITH_RUN = 2, 3


class InvalidHandlers(JobQueueError):
    """The handlers do not fit the declared types of job."""


def handles(type_name: str) -> Callable[[Function], Function]:
    """Say that a function handles the jobs of a type. It is not changed, and can be called as any other.

    Parameters
    ----------
    type_name : str
        A type that is declared in ``layers/jobtypes``.
    """

    def note(function: Function) -> Function:
        setattr(function, _HANDLED, (*getattr(function, _HANDLED, ()), type_name))
        return function

    return note


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and the type whose jobs it handles."""

    job_type: JobType
    function: Callable[..., Any]
    takes_run: bool

    def __call__(self, run: Run) -> Any:
        """Call the function with the job, its typed payload and, if it takes it, the run.

        Raises
        ------
        Discard
            If the payload does not fit the type's model (any more).
        """
        arguments = (run.job, typed_payload(run.job, self.job_type))
        return self.function(*arguments, run) if self.takes_run else self.function(*arguments)


class Handlers:
    """The handlers of the queues that a worker works.

    Parameters
    ----------
    functions : iterable
        Functions that `handles` was put on.
    job_types : JobTypes
        The declared types.
    queues : collection of str
        The queues that are worked.

    Raises
    ------
    InvalidHandlers
        If a type has no handler though its queue is worked, if a type has two, if a handler's type is not
        declared, or if a handler cannot take a job and its payload.
    """

    def __init__(
        self, functions: Iterable[Callable[..., Any]], job_types: JobTypes, queues: Collection[str]
    ) -> None:
        self._by_type: dict[str, Handler] = {}
        for function in functions:
            for type_name in getattr(function, _HANDLED):
                self._add(function, type_name, job_types)
        missing = [one for one in job_types.types if one.queue in queues and one.name not in self._by_type]
        if missing:
            raise InvalidHandlers("\n\n".join(_what_to_write(one) for one in missing))

    def get(self, type_name: str) -> Handler | None:
        """Return the handler of a type, or None."""
        return self._by_type.get(type_name)

    def _add(self, function: Callable[..., Any], type_name: str, job_types: JobTypes) -> None:
        where = f"{function.__module__}.{function.__qualname__}"
        job_type = job_types.get(type_name)
        if job_type is None:
            raise InvalidHandlers(
                f"{where} handles {type_name!r}, which layers/jobtypes/jobtypes/__init__.py does not declare"
            )
        if type_name in self._by_type:
            raise InvalidHandlers(f"{where} is a second handler for {type_name!r}")
        parameters = len(inspect.signature(function).parameters)
        if parameters not in (_WITHOUT_RUN, _WITH_RUN):
            raise InvalidHandlers(f"{where} must take (job, payload) or (job, payload, run)")
        self._by_type[type_name] = Handler(job_type, function, takes_run=parameters == _WITH_RUN)


def find_handlers(package: str, folder: Path) -> Iterator[Callable[..., Any]]:
    """Import every module of a folder, and yield the functions that `handles` was put on.

    Parameters
    ----------
    package : str
        The name under which the folder's modules are imported.
    folder : Path
        Where they are.
    """
    for path in sorted(folder.glob("[!_]*.py")):
        yield from _own_handlers(import_module(f"{package}.{path.stem}"))


def typed_payload(job: Job, job_type: JobType) -> BaseModel:
    """Return the payload of `job` as the model of its type.

    Raises
    ------
    Discard
        If it does not fit: the model changed after the job was made.
    """
    from pydantic import ValidationError  # a wake that finds no job does not pay for the import

    try:
        # strict and from JSON text, exactly as it was accepted
        return job_type.payload_model.model_validate_json(json.dumps(job.payload), strict=True)
    except ValidationError as invalid:
        found = invalid.errors(include_url=False, include_context=False, include_input=False)
        raise Discard("; ".join(error.message for error in field_errors(found, ("payload",)))) from None


def _own_handlers(module: ModuleType) -> Iterator[Callable[..., Any]]:
    for value in vars(module).values():
        # a handler that is imported from elsewhere is found there
        if hasattr(value, _HANDLED) and value.__module__ == module.__name__:
            yield value


def _what_to_write(job_type: JobType) -> str:
    function = "".join(character if character.isalnum() else "_" for character in job_type.name)
    _, _, model = job_type.payload.rpartition(":")
    return (
        f"The type {job_type.name!r} has no handler, and its queue {job_type.queue!r} is one that work_jobs"
        f" works. Write functions/work_jobs/handlers/{function}.py:\n\n"
        "    from jobqueue.job import Job, JsonObject\n"
        "    from jobqueue.worker import handles\n"
        f"    from {job_type.payload.partition(':')[0]} import {model}\n\n\n"
        f'    @handles("{job_type.name}")\n'
        f"    def {function}(job: Job, payload: {model}) -> JsonObject:\n"
        "        ...\n\n"
        "or declare the type in a queue that workers elsewhere work, and that is not one of the stack's"
        " WorkerQueues."
    )
