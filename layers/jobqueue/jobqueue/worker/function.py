"""The Lambda function that works jobs, put together from its environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jobqueue import telemetry
from jobqueue.errors import InvalidSettings
from jobqueue.job import Clock, JobPriority, utc_now
from jobqueue.jobtype import JobTypes
from jobqueue.principal import Principal, Role
from jobqueue.queue import open_queue
from jobqueue.settings import Settings, number
from jobqueue.worker.fleet import SCHEDULE, Fleet
from jobqueue.worker.handlers import Handlers, find_handlers
from jobqueue.worker.shift import Crew, Shift
from jobqueue.worker.wakes import StreamWake, read_wake

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

WORKER_ID = "internal:work_jobs"
_LAMBDA_STARTS = "AWS_LAMBDA_INITIALIZATION_TYPE"


class LambdaContext(Protocol):
    """What Lambda tells of an invocation."""

    @property
    def aws_request_id(self) -> str:
        """Its id."""

    @property
    def invoked_function_arn(self) -> str:
        """The function."""

    def get_remaining_time_in_millis(self) -> int:
        """Return how much of its time is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """The environment of the worker function, beside that of every function.

    Attributes
    ----------
    queues : tuple of str
        ``WORKER_QUEUES``: the queues that it works, with commas between them; not set means all.
    concurrency : int
        ``WORKER_CONCURRENCY``: how many jobs one process runs side by side, 1 to 100.
    max_workers : int
        ``MAX_WORKERS``: how many workers the schedule may lead to under a backlog, 1 to 1,000.
    """

    queues: tuple[str, ...]
    concurrency: int
    max_workers: int

    @classmethod
    def from_env(cls, job_types: JobTypes, environ: Mapping[str, str] | None = None) -> WorkerSettings:
        """Read the settings.

        Raises
        ------
        InvalidSettings
            If a number is missing or out of range, or a queue is not declared.
        """
        env = os.environ if environ is None else environ
        declared = tuple(queue.name for queue in job_types.queues)
        named = tuple(name.strip() for name in env.get("WORKER_QUEUES", "").split(",") if name.strip())
        if unknown := set(named) - set(declared):
            raise InvalidSettings(f"WORKER_QUEUES names {min(unknown)!r}, which is not a declared queue")
        return cls(
            queues=named or declared,
            concurrency=int(number(env, "WORKER_CONCURRENCY", 1, 50)),
            max_workers=int(number(env, "MAX_WORKERS", 1, 1000)),
        )


class WorkJobs:
    """The handler of the function: ``lambda_handler = WorkJobs(...)``.

    Parameters
    ----------
    package : str
        The name under which the modules of the handlers are imported.
    folder : Path
        Where they are.
    job_types : JobTypes
        The types of the deployment.
    clock : Clock
        The time.

    Raises
    ------
    InvalidHandlers, InvalidSettings
        While Lambda starts the process; elsewhere by the first call, so that the function can be imported
        without its environment.
    """

    def __init__(self, package: str, folder: Path, job_types: JobTypes, *, clock: Clock = utc_now) -> None:
        self._package = package
        self._folder = folder
        self._job_types = job_types
        self._clock = clock
        if _LAMBDA_STARTS in os.environ:
            self.open()

    def open(self) -> None:
        """Read the environment, import the handlers and open the queue."""
        _ = self._crew

    def __call__(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
        """Work as long as there are jobs and time; return how many jobs ended in which way."""
        telemetry.begin(request_id=context.aws_request_id, principal=WORKER_ID)
        now = self._clock()
        wake = read_wake(event, self._crew.queues, now)
        if isinstance(wake, StreamWake):
            if not wake.promised:
                return {}
            shift = Shift(self._crew, _seconds_left(context), promised=wake.promised)
        else:
            until = wake.until or now + SCHEDULE
            fleet = Fleet(context.invoked_function_arn, self._settings.max_workers, _lambda_client)
            shift = Shift(
                self._crew,
                _seconds_left(context),
                claim_seconds=(until - now) / timedelta(seconds=1),
                on_backlog=lambda: fleet.start_next(wake, until),
            )
        return {outcome.value: count for outcome, count in shift.work().items()}

    @cached_property
    def _settings(self) -> WorkerSettings:
        return WorkerSettings.from_env(self._job_types)

    @cached_property
    def _crew(self) -> Crew:
        queues = self._settings.queues
        functions = find_handlers(self._package, self._folder)
        return Crew(
            queue=open_queue(Settings.from_env(), self._job_types),
            job_types=self._job_types,
            handlers=Handlers(functions, self._job_types, queues),
            caller=Principal(
                id=WORKER_ID,
                role=Role.WORKER,
                queues=frozenset(queues),
                max_priority=JobPriority.LOW,
            ),
            queues=queues,
            concurrency=self._settings.concurrency,
        )


def _seconds_left(context: LambdaContext) -> Callable[[], float]:
    return lambda: context.get_remaining_time_in_millis() / 1000


def _lambda_client() -> LambdaClient:
    import boto3
    from botocore.config import Config

    # a worker that starts another does not wait for it, nor long for Lambda
    client: LambdaClient = boto3.client("lambda", config=Config(connect_timeout=1, read_timeout=5))
    return client
