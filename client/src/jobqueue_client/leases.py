"""The calls of a worker: claim a job, and end or extend the lease that it is held under."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from . import batch
from .errors import ClientError, UnexpectedAnswer
from .jobs import Claimed, Completion, Held, Job, JsonObject, Lease, encode
from .retry import Repeat
from .timestamps import read_timestamp
from .transport import Answer, Transport

_JOB_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class LeaseCalls:
    """What a worker's credential may do. Mixed into `Client`."""

    _transport: Transport

    def claim(self, *, queues: Sequence[str] | None = None, lease_seconds: int | None = None) -> Job | None:
        """Take the next job, of the given queues or of all that are granted; None when there is none.

        The job is this caller's until `lease_expires_at`: `heartbeat` extends it, and one of `complete`,
        `fail` and `release` ends it.
        """
        jobs = self.claim_many(1, queues=queues, lease_seconds=lease_seconds).jobs
        return jobs[0] if jobs else None

    def claim_many(
        self, max_jobs: int, *, queues: Sequence[str] | None = None, lease_seconds: int | None = None
    ) -> Claimed:
        """Take up to `max_jobs` (1 to 25) jobs."""
        body: JsonObject = {} if queues is None else {"queues": [*queues]}
        if lease_seconds is not None:
            body["lease_seconds"] = lease_seconds
        if max_jobs == 1:
            answer = self._claim("/jobs/claim", body)
            found = [] if answer.status == 204 else [answer.body]
        else:
            answer = self._claim("/jobs/batch/claim", {**body, "max_jobs": max_jobs})
            found = jobs_in(answer.body)
        jobs = tuple(map(Job.from_json, found))
        if not all(job.lease_token for job in jobs):
            raise UnexpectedAnswer("The API's answer has a job without a lease token.")
        return Claimed(jobs, answer.retry_after)

    def complete(self, job: Held, result: Any = None) -> Job:
        """Say that a claimed job is done, with a JSON `result` of up to 65,536 bytes.

        Raises
        ------
        JobNotHeld
            It is no longer running under this lease.
        TypeError, ValueError
            `result` is not JSON, or `job` has no lease token.
        """
        return self._end(job, "complete", {"result": result})

    def complete_many(self, completions: Iterable[Completion]) -> tuple[Job | ClientError, ...]:
        """Complete many jobs, in calls of up to 25, and return what became of each, in their order.

        Raises
        ------
        ClientError
            What a whole call ended in. Calling again with the same completions is safe.
        TypeError, ValueError
            A result is not JSON, or a job has no lease token.
        """
        return batch.complete_many(self._transport, completions)

    def fail(
        self,
        job: Held,
        error: str | None = None,
        *,
        retry_in_seconds: int | None = None,
        discard: bool = False,
    ) -> Job:
        """Say that a claimed job failed. It is retried by its policy, unless told otherwise.

        Parameters
        ----------
        job : Held
            From a claim.
        error : str, optional
            What went wrong. Stored redacted, for admins.
        retry_in_seconds : int, optional
            0 to 604,800: when to retry, in place of the backoff. Not together with `discard`.
        discard : bool
            Do not retry.

        Raises
        ------
        JobNotHeld
            It is no longer running under this lease.
        """
        # half a surrogate pair, as os.fsdecode makes them, must not cost the report of the failure
        text = None if error is None else re.sub("[\ud800-\udfff]", "\ufffd", error)
        body = {"error": text, "retry_in_seconds": retry_in_seconds, "discard": discard or None}
        return self._end(job, "fail", body)

    def heartbeat(self, job: Held, *, lease_seconds: int | None = None, progress: Any = None) -> Lease:
        """Extend the lease of a claimed job to `lease_seconds` from now, and note its `progress`.

        Raises
        ------
        JobNotHeld
            It is no longer running under this lease: stop working on it.
        """
        body = {"lease_seconds": lease_seconds, "progress": progress}
        data = self._call(job.id, "heartbeat", _with_token(job, body)).body
        return Lease(read_timestamp(data.get("lease_expires_at")), data.get("cancel_requested") is True)

    def release(self, job: Held, *, delay_seconds: int | None = None) -> Job:
        """Give a claimed job back unfinished, to be claimed again. That counts as no attempt.

        Raises
        ------
        JobNotHeld
            It is no longer running under this lease.
        """
        return self._end(job, "release", {"delay_seconds": delay_seconds})

    def _claim(self, path: str, body: JsonObject) -> Answer:
        return self._transport.send("POST", path, body=encode(body), repeat=Repeat.UNLESS_RECEIVED)

    def _end(self, job: Held, verb: str, body: JsonObject) -> Job:
        return Job.from_json(self._call(job.id, verb, _with_token(job, body)).body)

    def _call(self, job_id: str, verb: str, body: JsonObject) -> Answer:
        return self._transport.send("POST", f"{path_of(job_id)}/{verb}", body=encode(body))


def path_of(job_id: str) -> str:
    """Return the path of a job.

    Raises
    ------
    ValueError
        If `job_id` cannot be an id: it could lead to another route.
    """
    if not _JOB_ID.fullmatch(job_id):
        raise ValueError("a job id is letters, digits, - and _")
    return f"/jobs/{job_id}"


def jobs_in(body: JsonObject) -> list[Any]:
    """Return the member `jobs` of an answer.

    Raises
    ------
    UnexpectedAnswer
        If it is not a list.
    """
    found = body.get("jobs")
    if not isinstance(found, list):
        raise UnexpectedAnswer("The API's answer has no jobs.")
    return found


def _with_token(job: Held, body: JsonObject) -> JsonObject:
    given = {name: value for name, value in body.items() if value is not None}
    return {"lease_token": batch.token_of(job), **given}
