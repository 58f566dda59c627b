"""What was called while many called at once, and what it tells of who held which job when."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from jobqueue.job import Job, format_timestamp
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
    RESCUE = "rescue"


ENDINGS = frozenset({Kind.COMPLETE, Kind.FAIL, Kind.RELEASE})
OF_HOLDERS = ENDINGS | {Kind.EXTEND}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call on one job.

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
        The job as it was answered; None for a heartbeat, and where the call was refused.
    expires_at : datetime or None
        The end of the lease, as a claim or a heartbeat told it.
    refused_at : datetime or None
        When the queue's clock was read after a refusal; None where the call was carried out.
    """

    start: int
    end: int
    caller: str
    kind: Kind
    job_id: str
    token: str | None = None
    job: Job | None = None
    expires_at: datetime | None = None
    refused_at: datetime | None = None


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
    refusals : tuple of Call
        What was not.
    rescues : tuple of Call
        What ended it from outside.
    """

    token: str
    claim: Call
    job: Job
    calls: tuple[Call, ...] = ()
    refusals: tuple[Call, ...] = ()
    rescues: tuple[Call, ...] = ()

    @property
    def ending(self) -> Call | None:
        """What its holder ended it with; None where the lease ran out."""
        return next((call for call in self.calls if call.kind in ENDINGS), None)

    @property
    def expires_at(self) -> datetime:
        """The end of the lease, with all extensions."""
        return latest_expiry((self.claim, *self.calls))

    def ended_before(self, other: Tenure) -> bool:
        """Tell whether this one may have been over when the other one began."""
        if self.ending is not None:
            return self.ending.start <= other.claim.end
        return other.job.claimed_at is not None and self.expires_at + LEASE_GRACE <= other.job.claimed_at


def latest_expiry(calls: Iterable[Call]) -> datetime:
    """Return the end of a lease as the latest of these calls told it."""
    return max(call.expires_at for call in calls if call.expires_at is not None)


def tenures(of_job: Sequence[Call]) -> list[Tenure]:
    """Return the tenures of a job, the earliest first."""
    claims = [call for call in of_job if call.kind is Kind.CLAIM]
    claims.sort(key=lambda claim: format_timestamp(_began(claim)))
    rescues: dict[str | None, list[Call]] = defaultdict(list)
    for rescue in (call for call in of_job if call.kind is Kind.RESCUE and call.job is not None):
        before = [claim for claim in claims if rescue.job and _began(claim) < rescue.job.updated_at]
        rescues[before[-1].token if before else None].append(rescue)
    return [
        Tenure(
            token=claim.token or "",
            claim=claim,
            job=claim.job,
            calls=_under(claim, of_job, are_refused=False),
            refusals=_under(claim, of_job, are_refused=True),
            rescues=tuple(rescues[claim.token]),
        )
        for claim in claims
        if claim.job is not None
    ]


def by_job(history: Iterable[Call]) -> dict[str, list[Call]]:
    """Return the calls on each job."""
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in history:
        calls[call.job_id].append(call)
    return calls


class Sight(StrEnum):
    """What a race must have seen often, or it proves little."""

    CLAIM = "claim"
    JOB_CLAIMED = "job that was claimed"
    COMPLETED = "completed"
    FAILED = "failed"
    RELEASED = "released"
    HEARTBEAT = "heartbeat"
    CANCEL = "cancel"
    RETRY = "retry"
    TAKEOVER = "takeover by a claim"
    RESCUE = "rescue"
    TOO_LATE = "call of a holder after the next one had begun"
    LATE_BUT_HELD = "call of a holder whose lease had run out, before anybody took the job"


_CARRIED_OUT = {
    Kind.CLAIM: Sight.CLAIM,
    Kind.COMPLETE: Sight.COMPLETED,
    Kind.FAIL: Sight.FAILED,
    Kind.RELEASE: Sight.RELEASED,
    Kind.EXTEND: Sight.HEARTBEAT,
    Kind.CANCEL: Sight.CANCEL,
    Kind.RETRY: Sight.RETRY,
    Kind.RESCUE: Sight.RESCUE,
}


def sights(history: Sequence[Call]) -> Counter[Sight]:
    """Count what was seen."""
    carried_out = (call for call in history if call.refused_at is None)
    seen = Counter(_CARRIED_OUT[call.kind] for call in carried_out if call.kind in _CARRIED_OUT)
    for of_job in by_job(history).values():
        seen.update(_seen_of_one(tenures(of_job)))
    return seen


def _seen_of_one(of_job: Sequence[Tenure]) -> Iterator[Sight]:
    if of_job:
        yield Sight.JOB_CLAIMED
    for one, other in pairwise(of_job):
        if one.ending is None and not one.rescues:
            yield Sight.TAKEOVER
        yield from (Sight.TOO_LATE for call in one.refusals if call.start > other.claim.end)
    for one in of_job:
        if one.ending is not None and one.ending.job is not None:
            before = (call for call in (one.claim, *one.calls) if call.end <= one.ending.start)
            if one.ending.job.updated_at > latest_expiry(before):
                yield Sight.LATE_BUT_HELD


def _under(claim: Call, calls: Iterable[Call], *, are_refused: bool) -> tuple[Call, ...]:
    return tuple(
        call
        for call in calls
        if call.kind in OF_HOLDERS
        and call.token == claim.token
        and (call.refused_at is not None) is are_refused
    )


def _began(claim: Call) -> datetime:
    assert claim.job is not None
    return claim.job.claimed_at or claim.job.created_at
