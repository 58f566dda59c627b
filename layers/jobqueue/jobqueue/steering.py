"""What those may do with a job who do not hold it: cancel it, and give it a new life."""

from __future__ import annotations

from collections.abc import Callable

from jobqueue.deciding import decide
from jobqueue.item import StoredJob
from jobqueue.job import Clock, Job
from jobqueue.lifecycle import Ended, Unchanged, after_cancel, after_retry
from jobqueue.marks import is_repeated, mark
from jobqueue.table import JobsTable, Refused

_FORGOTTEN_BY_RETRY = ("finished_at", "expires_at", "cancel_requested", "error", "result")


class Steering:
    """Cancel and retry, for callers whose right to it was checked.

    Each method takes the job as it was read, and raises `JobNotFound` where it has gone since, and
    `Unavailable` where DynamoDB was busy.

    Parameters
    ----------
    table : JobsTable
        Where the jobs are.
    clock : Clock
        The time.
    new_token : callable
        Makes tokens.
    """

    def __init__(self, table: JobsTable, clock: Clock, new_token: Callable[[], str]) -> None:
        self._table = table
        self._clock = clock
        self._new_token = new_token

    def cancel(self, stored: StoredJob) -> Job:
        """Cancel a waiting job, or ask the holder of a running one to stop.

        Raises
        ------
        JobNotCancellable
            It completed or failed.
        """

        def write(seen: StoredJob, mark: str) -> StoredJob | Refused:
            decision, now = after_cancel(seen.job), self._clock()
            if isinstance(decision, Unchanged):
                return seen
            if isinstance(decision, Ended):
                update = self._table.updates.settle(seen, decision, now=now, mark=mark)
            else:
                update = self._table.updates.ask_to_cancel(seen, now=now, mark=mark)
            return self._table.update(update)

        return self._once("cancel", stored, write)

    def retry(self, stored: StoredJob) -> Job:
        """Give a failed or cancelled job a new life, with all its retries.

        Raises
        ------
        JobNotRetryable
            It neither failed nor was cancelled.
        """

        def write(seen: StoredJob, mark: str) -> StoredJob | Refused:
            now = self._clock()
            decision = after_retry(seen.job, now)
            return self._table.update(
                self._table.updates.settle(seen, decision, now=now, mark=mark, forget=_FORGOTTEN_BY_RETRY)
            )

        return self._once("retry", stored, write)

    def _once(
        self, operation: str, stored: StoredJob, write: Callable[[StoredJob, str], StoredJob | Refused]
    ) -> Job:
        wanted = mark(operation, self._new_token())
        return decide(
            stored,
            answer=lambda seen: seen if is_repeated(wanted, seen.marks) else None,
            write=lambda seen: write(seen, wanted),
        ).job
