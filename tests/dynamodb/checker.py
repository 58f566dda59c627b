"""Whether a queue that keeps its word may answer as it did while many called at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from jobqueue.job import Job, JobStatus
from jobqueue.lifecycle import LEASE_GRACE
from tests.dynamodb.history import OF_HOLDERS, Call, Kind, Tenure, by_job, latest_expiry, tenures


def violations(history: Sequence[Call], final: Mapping[str, Job], *, all_was_heard: bool = True) -> list[str]:
    """Return what no queue that keeps its word could have done; nothing if all is well.

    Parameters
    ----------
    history : sequence of Call
        All that was called.
    final : mapping of str to Job
        What is stored in the end, when no worker is left and all that waited has been worked.
    all_was_heard : bool
        Whether every answer came. A claim whose answer was lost ran into its lease, and was counted as a
        failure that the history does not know of; then retries are not checked, and a refusal is only wrong
        while the lease lasts.
    """
    found = [*_tokens(history), *_lost(history, final)]
    for job_id, calls in by_job(history).items():
        held = tenures(calls)
        carried_out = [call for call in calls if call.refused_at is None]
        problems = [*_holders(held), *_refusals(held, all_was_heard=all_was_heard)]
        problems += _rescues(held, carried_out, all_was_heard=all_was_heard)
        if all_was_heard:
            problems += _counts(held, carried_out)
        if job_id in final:
            problems += _end(held, carried_out, final[job_id], all_was_heard=all_was_heard)
        if job_id in final and all_was_heard:
            problems += _last_count(held, carried_out, final[job_id])
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
        if call.kind in OF_HOLDERS:
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


def _holders(held: Sequence[Tenure]) -> Iterator[str]:
    """Nobody holds a job while another one does, nor does anything with it afterwards."""
    for one, other in pairwise(held):
        if not one.ended_before(other):
            yield f"held under {one.token} and {other.token} at once"
        for call in one.calls:
            if call.start > other.claim.end:
                yield f"{call.kind} under {one.token}, after {other.token} had been given"


def _refusals(held: Sequence[Tenure], *, all_was_heard: bool) -> Iterator[str]:
    """Who holds a job is not refused: until it ends that itself, or loses it after its lease."""
    for at, one in enumerate(held):
        for call in one.refusals:
            if one.ending is not None and one.ending.start < call.end:
                continue
            told = latest_expiry(known for known in (one.claim, *one.calls) if known.end <= call.start)
            taken = any(other.claim.start < call.end for other in held[at + 1 :])
            if call.refused_at is not None and call.refused_at < told + LEASE_GRACE:
                yield f"{call.kind} under {one.token} was refused while the lease lasted"
            elif all_was_heard and not taken and not any(rescue.start < call.end for rescue in one.rescues):
                yield f"{call.kind} under {one.token} was refused, though nobody had taken the job"


def _rescues(held: Sequence[Tenure], calls: Sequence[Call], *, all_was_heard: bool) -> Iterator[str]:
    """Only a job whose lease ran out is rescued, once, and its holder has no say in it any more."""
    for one in held:
        if one.ending is not None and not all_was_heard:
            continue  # what was rescued is a tenure that nobody heard of
        for rescue in one.rescues:
            yield from _rescue(one, rescue, rescue.job or one.job, all_was_heard=all_was_heard)
        if all_was_heard and len(one.rescues) > 1:
            yield f"rescued under {one.token} more than once"
    known = {id(rescue) for one in held for rescue in one.rescues}
    if all_was_heard and any(call.kind is Kind.RESCUE and id(call) not in known for call in calls):
        yield "rescued before it was claimed"


def _rescue(one: Tenure, rescue: Call, job: Job, *, all_was_heard: bool) -> Iterator[str]:
    if job.updated_at < one.expires_at + LEASE_GRACE:
        yield f"rescued under {one.token} while the lease lasted"
    if one.ending is not None:
        yield f"rescued under {one.token}, though it had ended by {one.ending.kind}"
    expected = one.job.retry_count + (job.status is JobStatus.PENDING)
    if all_was_heard and job.retry_count != expected:
        yield f"rescued under {one.token} with {job.retry_count} retries and not {expected}"
    for call in one.calls:
        if call.start > rescue.end:
            yield f"{call.kind} under {one.token}, after it had been rescued"


def _counts(held: Sequence[Tenure], calls: Sequence[Call]) -> Iterator[str]:
    """A claimed job has as many retries as failures were seen since the last retry by an admin."""
    for one in held:
        ending = one.ending
        if ending is not None and ending.kind is Kind.FAIL and ending.job is not None:
            counted = ending.job.status is JobStatus.PENDING
            if ending.job.retry_count != one.job.retry_count + counted:
                yield f"failed at {one.job.retry_count} retries and then had {ending.job.retry_count}"
    if held and held[0].job.retry_count != 0:
        yield "had retries before it was ever claimed"
    for one, other in pairwise(held):
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


def _end(held: Sequence[Tenure], calls: Sequence[Call], final: Job, *, all_was_heard: bool) -> Iterator[str]:
    """A job ends as its last call tells, and it is completed once."""
    kinds = Counter(call.kind for call in calls)
    last = held[-1] if held else None
    if kinds[Kind.COMPLETE] > 1:
        yield "completed more than once"
    if kinds[Kind.COMPLETE] and final.status is not JobStatus.COMPLETED:
        yield f"completed, and in the end {final.status}"
    # what failed may have been held last by somebody who never heard of it
    unheard = final.status is JobStatus.FAILED and not all_was_heard
    if not unheard and not _may_end_as(final.status, last, kinds):
        yield f"{final.status} by nobody"


def _last_count(held: Sequence[Tenure], calls: Sequence[Call], final: Job) -> Iterator[str]:
    """A job ends with as many retries as it had when it was seen last."""
    if not held:
        return
    last = held[-1]
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
