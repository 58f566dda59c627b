"""The job queue's API as Python calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import httpx

from . import batch
from .clock import Clock
from .errors import ClientError, JobNotRetryable
from .jobs import Enqueued, Job, JobPage, NewJob, encode, mint_key
from .leases import LeaseCalls, jobs_in, path_of
from .queues import QueueCalls
from .retry import RetryPolicy
from .transport import Transport, check_url, headers_for
from .waiting import wait_until_finished


class Client(LeaseCalls, QueueCalls):
    """A connection to one deployment of jobqueue. May be shared by threads; close it or use ``with``.

    Calls are repeated after connection errors, timeouts, 429 and 5xx, with full jitter, as long as that is
    safe and `retry` allows it:

    - An enqueue has an idempotency key, a random one when the caller gives none, so a repeat finds the job
      that the first attempt made.
    - Complete, fail, release and heartbeat carry the lease token, by which the API knows a repeat.
    - A claim is repeated only when the API cannot have received it or answers 429 or 503. One whose answer
      was lost runs into its lease, which counts as a failed attempt of that job. `retry_failed` likewise,
      since each one that arrives retries more jobs.

    Parameters
    ----------
    url : str
        Where the API is, as the deployment's ``ApiUrl`` says.
    key : str
        An API key or a JWT.
    timeout : float
        Seconds that one attempt may wait for an answer. The API itself gives up after 30; a claim that is
        given up earlier may leave a job to its lease.
    retry : RetryPolicy, optional
        How often and how long calls are repeated.
    allow_http : bool
        Take an ``http://`` URL of another machine. The key is then readable on the way.
    transport : httpx.BaseTransport, optional
        What carries the requests, in place of httpx's own.
    clock : Clock, optional
        Tells the time and sleeps.
    random : callable, optional
        Gives a number from 0 up to 1, for the jitter.

    Raises
    ------
    ValueError
        If `url` or `key` cannot be one.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        allow_http: bool = False,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._transport = Transport(
            httpx.Client(headers=headers_for(key), transport=transport),
            check_url(url, allow_http=allow_http),
            timeout=timeout,
            retry=retry or RetryPolicy(),
            clock=clock or Clock(),
            random=random,
        )

    def __repr__(self) -> str:
        return f"Client({self._transport.base_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, those of every `with_options` of this client too."""
        self._transport.http.close()

    @property
    def clock(self) -> Clock:
        """The clock that this client goes by."""
        return self._transport.clock

    @property
    def random(self) -> Callable[[], float]:
        """Where this client's jitter comes from."""
        return self._transport.random

    @property
    def timeout(self) -> float:
        """Seconds that one attempt may wait for an answer."""
        return self._transport.timeout

    def with_options(self, *, timeout: float | None = None, retry: RetryPolicy | None = None) -> Client:
        """Return a client on the same connections with another patience."""
        other = object.__new__(type(self))
        other._transport = self._transport.with_options(timeout=timeout, retry=retry)
        return other

    def enqueue(
        self,
        job_type: str,
        payload: Mapping[str, Any] | None = None,
        *,
        queue: str | None = None,
        priority: str | None = None,
        max_retries: int | None = None,
        delay_seconds: int | None = None,
        run_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Enqueued:
        """Make a job, or find the one that `idempotency_key` made before. See `NewJob` for the parameters.

        Raises
        ------
        InvalidRequest
            Unknown type or queue, or a payload that the type's model refuses; `errors` names the fields.
        IdempotencyKeyReused
            The key made another job.
        QueueNotAllowed, PriorityNotAllowed
            The credential does not reach so far.
        Unavailable
            No success within the retry policy. The job may exist: with a key of your own, call again.
        """
        new = NewJob(
            type=job_type,
            payload=payload or {},
            queue=queue,
            priority=priority,
            max_retries=max_retries,
            delay_seconds=delay_seconds,
            run_at=run_at,
            idempotency_key=mint_key() if idempotency_key is None else idempotency_key,
        )
        answer = self._transport.send("POST", "/jobs", body=encode(new.to_json()))
        # nobody else has a key that was minted here, so a job that it finds is this call's own
        return Enqueued(Job.from_json(answer.body), answer.status == 201 or idempotency_key is None)

    def enqueue_many(self, jobs: Iterable[NewJob]) -> tuple[Enqueued | ClientError, ...]:
        """Make many jobs, in calls of up to 100, and return what became of each, in their order.

        A refusal of one job is in its place and stops no other. An error of a whole call is raised; calling
        again with the same `NewJob` objects is safe, since each has its key.

        Raises
        ------
        ClientError
            What a whole call ended in.
        """
        return batch.enqueue_many(self._transport, jobs)

    def get(self, job_id: str) -> Job:
        """Return a job as it is now.

        Raises
        ------
        JobNotFound
            There is none, it is past its retention, or its queue is not granted.
        """
        return Job.from_json(self._transport.send("GET", path_of(job_id)).body)

    def list_page(
        self,
        *,
        status: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> JobPage:
        """Return up to `limit` (1 to 100) jobs, without payloads, and the cursor of the next page."""
        wanted = {"status": status, "queue": queue, "type": job_type, "limit": limit, "cursor": cursor}
        query = {name: value for name, value in wanted.items() if value is not None}
        body = self._transport.send("GET", "/jobs", query=query).body
        return JobPage(tuple(map(Job.from_json, jobs_in(body))), body.get("next_cursor"))

    def list(
        self, *, status: str | None = None, queue: str | None = None, job_type: str | None = None
    ) -> Iterator[Job]:
        """Go through all jobs that match, without payloads, fetching pages as they are needed."""
        cursor: str | None = None
        while True:
            page = self.list_page(status=status, queue=queue, job_type=job_type, cursor=cursor)
            yield from page.jobs
            cursor = page.next_cursor
            if cursor is None:
                return

    def cancel(self, job_id: str) -> Job:
        """Cancel a pending job, or ask the worker of a running one to stop.

        Raises
        ------
        JobNotFound, JobNotCancellable
            There is no such job, or it has already completed or failed.
        """
        return Job.from_json(self._call(job_id, "cancel", {}).body)

    def retry(self, job_id: str) -> Job:
        """Put a failed or cancelled job back into its queue (admins only).

        Raises
        ------
        JobNotFound, JobNotRetryable
            There is no such job, or it is neither failed nor cancelled.
        """
        try:
            return Job.from_json(self._call(job_id, "retry", {}).body)
        except JobNotRetryable as error:
            # no token marks a retry as ours; after a lost answer the job's own state says that it worked
            if not error.may_have_landed:
                raise
            return self.get(job_id)

    def wait(
        self,
        job_id: str,
        timeout: float | None = None,
        *,
        poll_seconds: float = 0.5,
        max_poll_seconds: float = 10.0,
    ) -> Job:
        """Poll a job until it is completed, failed or cancelled, and return it.

        Parameters
        ----------
        job_id : str
            The job to wait for.
        timeout : float, optional
            Seconds to wait at most. Default: for ever.
        poll_seconds, max_poll_seconds : float
            The first interval, which grows by half each time, and the longest. An API that is down is asked
            again at the same pace.

        Raises
        ------
        WaitTimeout
            The job was not finished in time. Nothing happened to it.
        """
        return wait_until_finished(self._transport, job_id, timeout, poll_seconds, max_poll_seconds)
