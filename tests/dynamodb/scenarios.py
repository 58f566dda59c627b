"""Every call of the queue that writes, with what must be there before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from jobqueue.errors import JobNotRetryable
from jobqueue.job import Job, JobStatus
from jobqueue.jobtype import JobTypes
from jobqueue.operating import RetriedJobs
from jobqueue.queue import NewJob
from jobqueue.queues import QueueRecord
from jobqueue.rescue import Found
from tests.support.office import Office
from tests.support.workshop import JOB_TYPES, MAILER, OPS, PRINTER, SHOP, Workshop

ONE_QUEUE = JobTypes([job_type for job_type in JOB_TYPES.types if job_type.queue == "default"])

Prepare: TypeAlias = Callable[[Office], Any]
Call: TypeAlias = Callable[[Office, Any], Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One call.

    Attributes
    ----------
    name : str
        What it is.
    prepare : callable
        Brings a job to where the call finds it.
    call : callable
        Calls, with what `prepare` returned.
    again : object
        What the call answers when it is made again after it landed unheard: the first answer (`SAME`), an
        error, or None for no job. `ANOTHER` is a second job.
    unsure : object
        What it answers if the SDK repeated a write that had landed.
    late : tuple
        What it answers, and changes nothing, if the index shows another time; empty where nobody asks it.
    """

    name: str
    prepare: Prepare
    call: Call
    again: Any = "same"
    unsure: Any = "same"
    late: tuple[Any, ...] = ()

    def __str__(self) -> str:
        """Return its name, for the ids of tests."""
        return self.name


SAME = "same"
ANOTHER = "another"
GONE = [Found.GONE]
NOTHING = RetriedJobs(retried=0, skipped=0, more=False)


def running(workshop: Workshop) -> Job:
    """Claim a job whose type knows no backoff, so that no chance is in what follows a failure."""
    return workshop.running(type="eager")


def lost(workshop: Workshop) -> Job:
    job = running(workshop)
    workshop.lose_lease()
    return job


def lost_for_good(workshop: Workshop) -> Job:
    job = workshop.running(max_retries=0)
    workshop.lose_lease()
    return job


def asked_to_cancel(workshop: Workshop) -> Job:
    job = workshop.running()
    workshop.queue.cancel(OPS, job.id)
    return job


def lost_and_asked_to_cancel(workshop: Workshop) -> Job:
    job = asked_to_cancel(workshop)
    workshop.lose_lease()
    return job


def failed(workshop: Workshop) -> Job:
    job = workshop.running(max_retries=0)
    return workshop.queue.fail(MAILER, job.id, error="no such host")


def extended(workshop: Workshop) -> Job:
    job = workshop.running()
    workshop.queue.extend(MAILER, job.id, lease_seconds=3600)
    workshop.lose_lease()
    return job


def paused(office: Office) -> None:
    office.operator.pause(OPS, "default")


def recounted(office: Office) -> QueueRecord:
    """Return what a recount finds that is not the first one."""
    office.queues.count("default", {"running": 1}, "batch-1")
    office.queues.note_recount(office.record(), {"streaks": {}}, {})
    return office.record()


def _retry_all(office: Office, _: Job) -> RetriedJobs:
    return office.operator.retry_jobs(OPS, "default", JobStatus.FAILED, limit=5)


def _rescue(workshop: Workshop, _: Job) -> Any:
    workshop.found.clear()
    workshop.rescuer.run()
    return [kind for kind, _ in workshop.found]


def _fail(workshop: Workshop, job: Job) -> Job:
    return workshop.queue.fail(MAILER, job.id, lease_token=job.lease_token, error="timed out")


def _complete(workshop: Workshop, job: Job) -> Job:
    return workshop.queue.complete(MAILER, job.id, lease_token=job.lease_token, result={"sent": 1})


KEYED = NewJob(type="note", payload={"to": "a"}, idempotency_key="order-7")

SCENARIOS = (
    Scenario("enqueue", lambda _: None, lambda w, _: w.enqueue(), ANOTHER),
    Scenario("enqueue with a key", lambda _: None, lambda w, _: w.queue.enqueue(SHOP, KEYED).job),
    Scenario("claim", Workshop.enqueue, lambda w, _: w.queue.claim(MAILER), None, late=(None,)),
    Scenario("take over", lost, lambda w, _: w.queue.claim(PRINTER), None, late=(None,)),
    Scenario("complete", Workshop.running, _complete),
    Scenario("complete, no token", Workshop.running, lambda w, job: w.queue.complete(MAILER, job.id)),
    Scenario("fail", running, _fail),
    Scenario("fail, no retries left", lambda w: w.running(max_retries=0), _fail),
    Scenario("fail, asked to cancel", asked_to_cancel, _fail),
    Scenario(
        "release",
        Workshop.running,
        lambda w, job: w.queue.release(MAILER, job.id, lease_token=job.lease_token),
    ),
    Scenario(
        "extend",
        Workshop.running,
        lambda w, job: w.queue.extend(MAILER, job.id, lease_token=job.lease_token, lease_seconds=90),
    ),
    Scenario(
        "extend, no shorter, with progress",
        Workshop.running,
        lambda w, job: w.queue.extend(MAILER, job.id, lease_seconds=5, progress=[1]),
    ),
    Scenario("cancel a waiting job", Workshop.enqueue, lambda w, job: w.queue.cancel(OPS, job.id)),
    Scenario("cancel a running job", Workshop.running, lambda w, job: w.queue.cancel(OPS, job.id)),
    Scenario("retry", failed, lambda w, job: w.queue.retry(OPS, job.id), JobNotRetryable),
    Scenario("rescue", lost, _rescue, [], late=([], GONE)),
    Scenario("rescue, no retries left", lost_for_good, _rescue, [], late=([], GONE)),
    Scenario("rescue, asked to cancel", lost_and_asked_to_cancel, _rescue, [], late=([], GONE)),
    Scenario("file an extended lease anew", extended, _rescue, [], late=([], [Found.EXTENDED])),
    Scenario(
        "retry in bulk",
        failed,
        _retry_all,
        NOTHING,
        late=(NOTHING, RetriedJobs(retried=0, skipped=1, more=False)),
    ),
    Scenario("pause", lambda _: None, lambda w, _: w.operator.pause(OPS, "default")),
    Scenario("resume", paused, lambda w, _: w.operator.resume(OPS, "default")),
    Scenario(
        "count", lambda _: None, lambda w, _: w.queues.count("default", {"failed": 1}, "b"), False, False
    ),
    Scenario(
        "note a recount",
        recounted,
        lambda w, record: w.queues.note_recount(record, {"streaks": {"failed": {}}}, {"running": -1}),
        False,
        False,
    ),
)
