"""What the functions tell about themselves: one JSON line for each decision.

A line names the job and the caller and says what was decided. It never holds a payload, a result, a
token, a header or the text of an error, since all of these can carry a caller's secrets.
"""

from __future__ import annotations

import traceback
from typing import Any, Protocol

from aws_lambda_powertools.logging import Logger

logger = Logger(location=None)  # every line is written from here
"""Named and levelled by POWERTOOLS_SERVICE_NAME and POWERTOOLS_LOG_LEVEL."""


class LoggedJob(Protocol):
    """What a line tells of a job."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def type(self) -> str:
        """Its type."""

    @property
    def queue(self) -> str:
        """Its queue."""

    @property
    def retry_count(self) -> int:
        """How often it was retried."""

    @property
    def trace_id(self) -> str | None:
        """The trace of the request that enqueued it."""


def begin(**fields: Any) -> None:
    """Start an invocation: `fields` are in each of its lines, and nothing of the last one's is.

    Parameters
    ----------
    **fields
        Such as `request_id` and `principal`; those that are None are left out.
    """
    logger.clear_state()
    logger.append_keys(**_known(fields))


def identify(principal: str) -> None:
    """Put the caller into the remaining lines of the invocation."""
    logger.append_keys(principal=principal)


def decision(action: str, outcome: str, job: LoggedJob | None = None, /, **fields: Any) -> None:
    """Log what was decided.

    Parameters
    ----------
    action : str
        The operation, such as ``claim_job``.
    outcome : str
        How it ended: ``ok``, or the name of what was wrong.
    job : job or None
        What it was about.
    **fields
        More of it: numbers and names only. Those that are None are left out.
    """
    about = {} if job is None else _of(job)
    logger.info(outcome, extra=_known({"action": action, "outcome": outcome, **about, **fields}))


def crash(action: str, error: BaseException) -> None:
    """Log an error that nobody expected: its class and where it rose, not its text.

    The text can quote what was sent: an SDK's or a model's message holds the refused value.
    """
    frames = [
        f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
    ]
    causes = [type(cause).__name__ for cause in (error.__cause__, error.__context__) if cause is not None]
    logger.error(
        "internal-error",
        extra=_known(
            {
                "action": action,
                "outcome": "internal-error",
                "error_class": type(error).__name__,
                "error_causes": causes or None,
                "error_frames": frames,
            }
        ),
    )


def _of(job: LoggedJob) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "job_type": job.type,
        "queue": job.queue,
        "attempt": job.retry_count + 1,
        "enqueue_trace_id": job.trace_id,
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
