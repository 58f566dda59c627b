"""Many jobs in few calls: splitting, and sending again only what did not get through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from .errors import ClientError, Unavailable, UnexpectedAnswer
from .jobs import Completion, Enqueued, Held, Job, JsonObject, NewJob, encode
from .transport import Transport, problem_error

_MAX_ENQUEUE = 100
_MAX_COMPLETE = 25
_MAX_BYTES = 2_500_000
"""Under the 3 MiB that the API takes: a hundred payloads of full size do not fit into one call."""

T = TypeVar("T")


def enqueue_many(transport: Transport, jobs: Iterable[NewJob]) -> tuple[Enqueued | ClientError, ...]:
    """Make `jobs`; see `Client.enqueue_many`."""

    def read(status: int, item: JsonObject) -> Enqueued:
        return Enqueued(Job.from_json(item.get("job")), status == 201)

    items = [encode(job.to_json()) for job in jobs]
    return _send(transport, "/jobs/batch", items, _MAX_ENQUEUE, read)


def complete_many(transport: Transport, completions: Iterable[Completion]) -> tuple[Job | ClientError, ...]:
    """Complete jobs; see `Client.complete_many`."""

    def read(_: int, item: JsonObject) -> Job:
        return Job.from_json(item.get("job"))

    items = [encode(_completion(one)) for one in completions]
    return _send(transport, "/jobs/batch/complete", items, _MAX_COMPLETE, read)


def token_of(job: Held) -> str:
    """Return the token of the lease that `job` is held under.

    Raises
    ------
    ValueError
        If it has none: without it, the call could end a lease that another process has by now.
    """
    if not job.lease_token:
        raise ValueError("the job has no lease token: only a job from a claim can be finished or extended")
    return job.lease_token


def _completion(one: Completion) -> JsonObject:
    body: JsonObject = {"id": one.job.id, "lease_token": token_of(one.job)}
    return body if one.result is None else {**body, "result": one.result}


def _send(
    transport: Transport, path: str, items: Sequence[bytes], most: int, read: Callable[[int, JsonObject], T]
) -> tuple[T | ClientError, ...]:
    outcomes: list[T | ClientError] = []
    for chunk in _chunks(items, most):
        outcomes.extend(_send_chunk(transport, path, chunk, read))
    return tuple(outcomes)


def _send_chunk(
    transport: Transport, path: str, items: Sequence[bytes], read: Callable[[int, JsonObject], T]
) -> list[T | ClientError]:
    """Send one call's worth of items, and those again that the API was too busy for."""
    outcomes: dict[int, T | ClientError] = {}
    waiting = list(range(len(items)))
    deadline = transport.clock.monotonic() + transport.retry.total_seconds
    repeat = 0
    while True:
        body = b'{"jobs":[' + b",".join(items[index] for index in waiting) + b"]}"
        results = _results(transport.send("POST", path, body=body).body, len(waiting))
        for index, item in zip(waiting, results, strict=True):
            outcomes[index] = _outcome(item, read)
        waiting = [index for index in waiting if isinstance(outcomes[index], Unavailable)]
        delay = transport.retry.delay(repeat, transport.random())
        repeat += 1
        late = transport.clock.monotonic() + delay > deadline
        if not waiting or repeat >= transport.retry.attempts or late:
            return [outcomes[index] for index in range(len(items))]
        transport.clock.sleep(delay)


def _outcome(item: JsonObject, read: Callable[[int, JsonObject], T]) -> T | ClientError:
    status = item.get("status")
    if not isinstance(status, int):
        raise UnexpectedAnswer("A result in the API's answer has no status.")
    problem = item.get("problem")
    if isinstance(problem, dict):
        return problem_error(status, problem)
    return read(status, item)


def _results(body: JsonObject, expected: int) -> list[Any]:
    results = body.get("results")
    if not isinstance(results, list) or len(results) != expected:
        raise UnexpectedAnswer("The API's answer does not have one result for each job.")
    if not all(isinstance(item, dict) for item in results):
        raise UnexpectedAnswer("The API's answer has a result that is not an object.")
    return results


def _chunks(items: Iterable[bytes], most: int) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for item in items:
        if chunk and (len(chunk) == most or size + len(item) > _MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += len(item) + 1
    if chunk:
        yield chunk
