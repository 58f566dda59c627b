"""The jobs behind the fake API: as the contract has them, in a dictionary."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

from jobqueue.job import CROCKFORD, format_timestamp, parse_timestamp, utc_now

Json: TypeAlias = dict[str, Any]

PRIORITIES = ("critical", "high", "medium", "low")
STATUSES = ("pending", "running", "failed", "completed", "cancelled")
FINISHED = ("failed", "completed", "cancelled")
OWNER = "key:shop"
WORKER = "key:fleet-a"


def ago(seconds: float) -> str:
    """Write the time `seconds` before now; a negative number is in the future."""
    return format_timestamp(utc_now() - timedelta(seconds=seconds))


def job_id(number: int) -> str:
    """Make the id of the job with that number."""
    digits = "".join(CROCKFORD[(number * 7919 >> shift) & 31] for shift in range(45, -1, -5))
    return f"job_01M8N4C1RBB1Q714{digits}"


@dataclass
class Jobs:
    """Jobs by id, and which queues are paused."""

    queues: tuple[str, ...] = ("default", "emails", "reports")
    types: tuple[str, ...] = ("email", "webhook", "report")
    by_id: dict[str, Json] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def add(
        self, job_type: str = "email", *, status: str = "pending", age: float = 30, **members: Any
    ) -> str:
        """Put a job in that was created `age` seconds ago, and return its id."""
        new = job_id(next(self._numbers))
        began = status != "pending"
        ended = status in FINISHED
        error = "connection refused by mail.example.com:25" if status == "failed" else None
        self.by_id[new] = {
            "id": new,
            "type": job_type,
            "queue": "emails",
            "priority": "low",
            "status": status,
            "retry_count": 3 if status == "failed" else 0,
            "max_retries": 3,
            "available_at": ago(age),
            "created_by": OWNER,
            "created_at": ago(age),
            "updated_at": ago(age / 2 if ended else age),
            "worker_id": WORKER if began else None,
            "claimed_at": ago(age * 0.6) if began else None,
            "finished_at": ago(age / 2) if ended else None,
            "lease_expires_at": ago(-45) if status == "running" else None,
            "cancel_requested": False,
            "progress": None,
            "payload": {"to": "ada@example.com", "subject": "Your order", "body": "It is on its way."},
            "result": {"message_id": "0100018f"} if status == "completed" else None,
            "idempotency_key": None,
            "error": error,
            "errors": [{"error": error, "failed_at": ago(age / 2), "worker_id": WORKER}] if error else [],
            **members,
        }
        return new

    def in_order(self, status: str) -> list[Json]:
        """Return the jobs of a status: waiting ones by urgency, finished ones newest first."""
        found = [job for job in self.by_id.values() if job["status"] == status]
        if status == "pending":
            return sorted(found, key=lambda job: (PRIORITIES.index(job["priority"]), job["available_at"]))
        if status == "running":
            return sorted(found, key=lambda job: str(job["lease_expires_at"]))
        return sorted(found, key=lambda job: str(job["finished_at"]), reverse=True)

    def queue_view(self, name: str) -> Json:
        """Return what GET /queues tells of a queue."""
        jobs = [job for job in self.by_id.values() if job["queue"] == name]
        pending = [job for job in jobs if job["status"] == "pending"]
        levels = Counter(job["priority"] for job in pending)
        statuses = Counter(job["status"] for job in jobs)
        now = format_timestamp(utc_now())
        oldest = min((job["available_at"] for job in pending if job["available_at"] <= now), default=None)
        age = None if oldest is None else (utc_now() - parse_timestamp(oldest)).total_seconds()
        return {
            "name": name,
            "paused": name in self.paused,
            "counts": {
                "pending": {level: levels[level] for level in PRIORITIES},
                **{status: statuses[status] for status in STATUSES[1:]},
            },
            "oldest_pending_at": oldest,
            "oldest_age_seconds": age,
        }

    def retry(self, job: Json) -> None:
        """Put a finished job back."""
        for member in ("worker_id", "claimed_at", "finished_at", "lease_expires_at", "result", "error"):
            job[member] = None
        now = ago(0)
        job.update(status="pending", retry_count=0, cancel_requested=False, available_at=now, updated_at=now)

    def cancel(self, job: Json) -> None:
        """Cancel a waiting job, or ask of a running one."""
        if job["status"] == "running":
            job["cancel_requested"] = True
        else:
            job.update(status="cancelled", finished_at=ago(0))
        job["updated_at"] = ago(0)

    def claim(self, job: Json) -> None:
        """Hand a waiting job to a worker."""
        job.update(status="running", worker_id=WORKER, claimed_at=ago(0), lease_expires_at=ago(-60))

    def complete(self, job: Json) -> None:
        """End a running job well."""
        job.update(
            status="completed",
            finished_at=ago(0),
            updated_at=ago(0),
            lease_expires_at=None,
            result={"sent": True},
        )

    def fail(self, job: Json, error: str) -> None:
        """End a running job badly, its retries spent."""
        failure = {"error": error, "failed_at": ago(0), "worker_id": WORKER}
        job.update(status="failed", finished_at=ago(0), updated_at=ago(0), lease_expires_at=None, error=error)
        job.update(errors=[*job["errors"], failure][-5:], retry_count=job["max_retries"])
