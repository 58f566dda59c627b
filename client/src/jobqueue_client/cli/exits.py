"""What the process ends with, and the one line that says why."""

from __future__ import annotations

from enum import IntEnum

from jobqueue_client.errors import ClientError, Forbidden, NotFound, Unauthorized, Unavailable, WaitTimeout


class ExitCode(IntEnum):
    """The exit codes of `jobqueue`, which scripts go by."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    UNAVAILABLE = 5
    NOT_COMPLETED = 6
    TIMED_OUT = 7
    INTERRUPTED = 130
    READER_GONE = 141
    TERMINATED = 143


EXPLAINED = """\b
Exit codes:
  0    done
  1    refused, by the API or by you
  2    the command line or the settings are wrong
  3    there is no such job or queue, or the key may not see it
  4    the key is not accepted, or does not allow this
  5    the API cannot be reached or is too busy; try again later
  6    the job that was waited for failed or was cancelled
  7    the job that was waited for did not end in time
  130  interrupted by Ctrl-C

Of several jobs or queues all are tried, and the first refusal gives the exit code.
"""

_BY_CLASS: tuple[tuple[type[ClientError], ExitCode], ...] = (
    (WaitTimeout, ExitCode.TIMED_OUT),
    (Unavailable, ExitCode.UNAVAILABLE),
    (NotFound, ExitCode.NOT_FOUND),
    (Unauthorized, ExitCode.NOT_ALLOWED),
    (Forbidden, ExitCode.NOT_ALLOWED),
)


def exit_code(error: ClientError) -> ExitCode:
    """Return what the process ends with after `error`."""
    return next((code for cls, code in _BY_CLASS if isinstance(error, cls)), ExitCode.REFUSED)


def explain(error: ClientError) -> str:
    """Return what to tell a person about `error`. May hold whatever the API said, so show it as text."""
    # the gateway answers so, in one word, before the API has seen the request
    if error.problem is None and isinstance(error, Unauthorized | Forbidden):
        return f"{error} (the key may be wrong, revoked or expired)"
    return str(error)
