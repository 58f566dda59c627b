"""What was called while many called at once, and whether a queue that keeps its word answers like that."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from jobqueue.job import Job, JobStatus, format_timestamp
from jobqueue.lifecycle import LEASE_GRACE


class Kind(StrEnum):
    """What is called."""

    ENQUEUE = "enqueue"
    CLAIM = "claim"
    COMPLETE = "complete"
    FAIL = "fail"
    RELEASE = "release"
    EXTEND = "extend"
    CANCEL = "cancel"
    RETRY = "retry"


ENDINGS = frozenset({Kind.COMPLETE, Kind.FAIL, Kind.RELEASE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that was carried out. Calls that were refused change nothing and are left out.

    Attributes
    ----------
    start, end : int
        When it was made and when it answered, on a clock that all processes share.
    caller : str
        Which thread of which process.
    kind : Kind
        What was called.
    job_id : str
        On which job.
    token : str or None
        The lease under which it was made; for a claim, the one that it gave.
    job : Job or None
        The job as it was answered; None for a heartbeat.
    expires_at : datetime or None
        The end of the lease, as a claim or a heartbeat told it.
    """

    start: int
    end: int
    caller: str
    kind: Kind
    job_id: str
    token: str | None = None
    job: Job | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Tenure:
    """The time for which a claim held a job.

    Attributes
    ----------
    token : str
        Its lease.
    claim : Call
        How it began.
    job : Job
        The job as it was claimed.
    calls : tuple of Call
        What was carried out under the lease.
    """

    token: str
    claim: Call
    job: Job
    calls: tuple[Call, ...]

    @property
    def ending(self) -> Call | None:
        """What its holder ended it with; None where the lease ran out."""
        return next((call for call in self.calls if call.kind in ENDINGS), None)

    @property
    def expires_at(self) -> datetime:
        """The end of the lease, with all extensions."""
        return max(call.expires_at for call in (self.claim, *self.calls) if call.expires_at is not None)

    def ended_before(self, other: Tenure) -> bool:
        """Tell whether this one may have been over when the other one began."""
        if self.ending is not None:
            return self.ending.start <= other.claim.end
        return other.job.claimed_at is not None and self.expires_at + LEASE_GRACE <= other.job.claimed_at


def violations(history: Sequence[Call], final: Mapping[str, Job], *, all_was_heard: bool = True) -> list[str]:
    """Return what no queue that keeps its word could have done; nothing if all is well.

    Parameters
    ----------
    history : sequence of Call
        All that was carried out.
    final : mapping of str to Job
        What is stored in the end, when no worker is left and all that waited has been worked.
    all_was_heard : bool
        Whether every answer came. A claim whose answer was lost ran into its lease, and was counted as a
        failure that the history does not know of; then retries are not checked.
    """
    found = [*_tokens(history), *_lost(history, final)]
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in history:
        calls[call.job_id].append(call)
    for job_id, of_job in calls.items():
        tenures = _tenures(of_job)
        problems = [*_holders(tenures)]
        if all_was_heard:
            problems += _counts(tenures, of_job)
        if job_id in final:
            problems += _end(tenures, of_job, final[job_id])
        if job_id in final and all_was_heard:
            problems += _last_count(tenures, of_job, final[job_id])
        found += [f"{job_id}: {problem}" for problem in problems]
    return found


def _tokens(history: Sequence[Call]) -> Iterator[str]:
    """Each lease is given once, and used by whom it was given to."""
    given: dict[str | None, Call] = {}
    for call in history:
        if call.kind is Kind.CLAIM:
            if call.token in given:
                yield f"the lease {call.token} was given twice"
            given[call.token] = call
    for call in history:
        if call.kind in ENDINGS | {Kind.EXTEND}:
            claim = given.get(call.token)
            if claim is None:
                yield f"{call.kind} under the lease {call.token}, which nobody was given"
            elif (claim.job_id, claim.caller) != (call.job_id, call.caller):
                yield f"{call.kind} by {call.caller} of {call.job_id} under the lease of {claim.caller}"


def _lost(history: Sequence[Call], final: Mapping[str, Job]) -> Iterator[str]:
    """What was enqueued is there, and nothing else is."""
    enqueued = {call.job_id for call in history if call.kind is Kind.ENQUEUE}
    yield from (f"{job_id}: lost" for job_id in enqueued - final.keys())
    yield from (f"{job_id}: enqueued by nobody" for job_id in final.keys() - enqueued)


def _tenures(calls: Sequence[Call]) -> list[Tenure]:
    """Return the tenures of a job, the earliest first."""
    tenures = [
        Tenure(
            token=claim.token or "",
            claim=claim,
            job=claim.job,
            calls=tuple(call for call in calls if call.token == claim.token and call is not claim),
        )
        for claim in calls
        if claim.kind is Kind.CLAIM and claim.job is not None
    ]
    return sorted(
        tenures, key=lambda tenure: format_timestamp(tenure.job.claimed_at or tenure.job.created_at)
    )


def _holders(tenures: Sequence[Tenure]) -> Iterator[str]:
    """Nobody holds a job while another one does, nor does anything with it afterwards."""
    for one, other in pairwise(tenures):
        if not one.ended_before(other):
            yield f"held under {one.token} and {other.token} at once"
        for call in one.calls:
            if call.start > other.claim.end:
                yield f"{call.kind} under {one.token}, after {other.token} had been given"


def _counts(tenures: Sequence[Tenure], calls: Sequence[Call]) -> Iterator[str]:
    """A claimed job has as many retries as failures were seen since the last retry by an admin."""
    for tenure in tenures:
        ending = tenure.ending
        if ending is not None and ending.kind is Kind.FAIL and ending.job is not None:
            counted = ending.job.status is JobStatus.PENDING
            if ending.job.retry_count != tenure.job.retry_count + counted:
                yield f"failed at {tenure.job.retry_count} retries and then had {ending.job.retry_count}"
    if tenures and tenures[0].job.retry_count != 0:
        yield "had retries before it was ever claimed"
    for one, other in pairwise(tenures):
        expected = _left_waiting(one)
        begun_anew = any(
            call.kind is Kind.RETRY and call.end >= one.claim.start and call.start <= other.claim.end
            for call in calls
        )
        if expected is None and not begun_anew:
            yield f"claimed under {other.token} though it had ended under {one.token}"
        elif other.job.retry_count != expected and not (begun_anew and other.job.retry_count == 0):
            yield f"claimed with {other.job.retry_count} retries under {other.token}, {expected} were seen"


def _left_waiting(tenure: Tenure) -> int | None:
    """Return how many retries the job had when the tenure left it waiting; None if it left it finished."""
    ending, count = tenure.ending, tenure.job.retry_count
    if ending is None:
        return count + 1 if count < tenure.job.max_retries else None
    if ending.job is None or ending.job.status is not JobStatus.PENDING:
        return None
    return ending.job.retry_count


def _end(tenures: Sequence[Tenure], calls: Sequence[Call], final: Job) -> Iterator[str]:
    """A job ends as its last call tells, and it is completed once."""
    kinds = Counter(call.kind for call in calls)
    last = tenures[-1] if tenures else None
    if kinds[Kind.COMPLETE] > 1:
        yield "completed more than once"
    if kinds[Kind.COMPLETE] and final.status is not JobStatus.COMPLETED:
        yield f"completed, and in the end {final.status}"
    if not _may_end_as(final.status, last, kinds):
        yield f"{final.status} by nobody"


def _last_count(tenures: Sequence[Tenure], calls: Sequence[Call], final: Job) -> Iterator[str]:
    """A job ends with as many retries as it had when it was seen last."""
    if not tenures:
        return
    last = tenures[-1]
    seen = {(last.ending.job if last.ending and last.ending.job else last.job).retry_count}
    if last.ending is None and final.status is JobStatus.CANCELLED:
        seen.add(_left_waiting(last) or 0)  # rescued, and cancelled while it waited
    begun_anew = any(call.kind is Kind.RETRY for call in calls) and final.retry_count == 0
    if final.retry_count not in seen and not begun_anew:
        yield f"ended with {final.retry_count} retries, {max(seen)} were seen"


def _may_end_as(status: JobStatus, last: Tenure | None, kinds: Counter[Kind]) -> bool:
    match status:
        case JobStatus.COMPLETED:
            return last is not None and last.ending is not None and last.ending.kind is Kind.COMPLETE
        case JobStatus.CANCELLED:
            return kinds[Kind.CANCEL] > 0
        case JobStatus.FAILED:
            return last is not None and _left_waiting(last) is None
        case _:
            return False
