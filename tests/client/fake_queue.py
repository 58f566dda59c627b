"""A queue in memory that keeps the contract, for one caller at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(2026, 11, 30, tzinfo=UTC)
Json = dict[str, Any]


def stamp(seconds: float) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Refused(Exception):
    def __init__(self, status: int, slug: str) -> None:
        super().__init__(slug)
        self.status = status
        self.slug = slug


@dataclass
class FakeQueue:
    """The jobs, how often each was completed, and for each queue whether it is paused."""

    monotonic: Callable[[], float]
    lease_seconds: float = 60.0
    jobs: dict[str, Json] = field(default_factory=dict)
    completions: Counter[str] = field(default_factory=Counter)
    queues: dict[str, bool] = field(default_factory=lambda: {"default": False})
    taken: list[str] = field(default_factory=list)
    marks: dict[tuple[str, str, str], tuple[str, Json]] = field(default_factory=dict)

    def add_job(self, body: Json) -> Json:
        job_id = f"job_{len(self.jobs):026d}"
        now = stamp(self.monotonic())
        self.jobs[job_id] = {
            "id": job_id,
            "queue": "default",
            "payload": {},
            "priority": "low",
            "max_retries": 3,
            "status": "pending",
            "retry_count": 0,
            "created_at": now,
            "available_at": now,
            "available": self.monotonic() + (body.get("delay_seconds") or 0),
            **body,
        }
        return self.jobs[job_id]

    def post(self, body: Json) -> tuple[int, Json]:
        key = body.get("idempotency_key")
        for job in self.jobs.values():
            if key is not None and job.get("idempotency_key") == key:
                if job["asked"] != body:
                    raise Refused(422, "idempotency-key-reused")
                return 200, job
        if body["type"] == "unknown":
            raise Refused(422, "invalid-request")
        return 201, self.add_job({**body, "asked": body})

    def take(self, body: Json) -> Json | None:
        now = self.monotonic()
        for job in self.jobs.values():
            paused = self.queues.get(job["queue"], False)
            if job["status"] == "pending" and job["available"] <= now and not paused:
                seconds = body.get("lease_seconds", self.lease_seconds)
                token = f"lease-{len(self.taken)}-{job['id']}"
                job |= {
                    "status": "running",
                    "worker_id": "key:w",
                    "lease_token": token,
                    "claimed_at": stamp(now),
                    "lease_expires_at": stamp(now + seconds),
                    "lease_ends": now + seconds,
                }
                self.taken.append(job["id"])
                return dict(job)
        return None

    def found(self, job_id: str) -> Json:
        if job_id not in self.jobs:
            raise Refused(404, "job-not-found")
        return self.jobs[job_id]

    def change(self, job_id: str, verb: str, body: Json) -> Json:
        if verb in {"cancel", "retry"}:
            return self._steer(self.found(job_id), verb)
        mark = (job_id, verb, str(body.get("lease_token")))
        digest = json.dumps(body, sort_keys=True)
        if mark in self.marks and verb != "heartbeat":
            if self.marks[mark][0] != digest:
                raise Refused(409, "replay-mismatch")
            return self.marks[mark][1]
        job = self.jobs.get(job_id)
        if job is None or job["status"] != "running" or job["lease_token"] != body.get("lease_token"):
            raise Refused(409, "job-not-held")
        if verb == "heartbeat":
            return self._extend(job, body)
        getattr(self, f"_{verb}")(job, body)
        self.marks[mark] = digest, dict(job)
        return dict(job)

    def _extend(self, job: Json, body: Json) -> Json:
        ends = self.monotonic() + body.get("lease_seconds", self.lease_seconds)
        if ends > job["lease_ends"]:
            job |= {"lease_ends": ends, "lease_expires_at": stamp(ends)}
        job["progress"] = body.get("progress", job.get("progress"))
        return {
            "lease_expires_at": job["lease_expires_at"],
            "cancel_requested": job.get("cancel_requested", False),
        }

    def _complete(self, job: Json, body: Json) -> None:
        if len(json.dumps(body.get("result"))) > 65_536:
            raise Refused(422, "invalid-request")
        self.completions[job["id"]] += 1
        job |= {"status": "completed", "result": body.get("result"), "finished_at": stamp(self.monotonic())}

    def _fail(self, job: Json, body: Json) -> None:
        job["error"] = body.get("error")
        if job.get("cancel_requested"):
            job["status"] = "cancelled"
        elif body.get("discard") or job["retry_count"] >= job["max_retries"]:
            job["status"] = "failed"
        else:
            self.back_to_pending(job)
            job["retry_count"] += 1
            job["available"] = self.monotonic() + (body.get("retry_in_seconds") or 0)

    def _release(self, job: Json, body: Json) -> None:
        if job.get("cancel_requested"):
            job["status"] = "cancelled"
        else:
            self.back_to_pending(job)
            job["available"] = self.monotonic() + (body.get("delay_seconds") or 0)

    def back_to_pending(self, job: Json) -> None:
        job |= {"status": "pending", "worker_id": None, "lease_token": None, "claimed_at": None}

    def _steer(self, job: Json, verb: str) -> Json:
        if verb == "cancel":
            if job["status"] in {"completed", "failed"}:
                raise Refused(409, "job-not-cancellable")
            job |= {"cancel_requested": True} if job["status"] == "running" else {"status": "cancelled"}
        elif job["status"] not in {"failed", "cancelled"}:
            raise Refused(409, "job-not-retryable")
        else:
            job |= {"status": "pending", "retry_count": 0, "available": self.monotonic()}
            job["finished_at"] = None
        return dict(job)

    # -- queues

    def counted(self, queue: str) -> Json:
        mine = [job for job in self.jobs.values() if job["queue"] == queue]
        count = Counter(job["status"] for job in mine)
        waiting = [job for job in mine if job["status"] == "pending"]
        oldest = min((job["available"] for job in waiting), default=None)
        pending = dict.fromkeys(("critical", "high", "medium", "low"), 0)
        return {
            "name": queue,
            "paused": self.queues[queue],
            "counts": {
                "pending": pending | Counter(job["priority"] for job in waiting),
                **{name: count[name] for name in ("running", "completed", "failed", "cancelled")},
            },
            "oldest_pending_at": None if oldest is None else stamp(oldest),
            "oldest_age_seconds": None if oldest is None else self.monotonic() - oldest,
        }

    def change_queue(self, queue: str, verb: str, body: Json) -> Json:
        if queue not in self.queues:
            raise Refused(404, "queue-not-found")
        if verb == "retry":
            return self._retry_many(queue, body)
        self.queues[queue] = verb == "pause"
        return {"name": queue, "paused": self.queues[queue]}

    def _retry_many(self, queue: str, body: Json) -> Json:
        if body["status"] not in {"failed", "cancelled"} or not 1 <= body["limit"] <= 100:
            raise Refused(422, "invalid-request")
        wanted: Json = {"queue": queue, **{name: body[name] for name in ("status", "type") if name in body}}
        found = [job for job in self.jobs.values() if wanted.items() <= job.items()]
        if "finished_before" in body:
            before = datetime.fromisoformat(body["finished_before"])
            found = [job for job in found if datetime.fromisoformat(job["finished_at"]) < before]
        for job in found[: body["limit"]]:
            self._steer(job, "retry")
        retried = min(len(found), body["limit"])
        return {"retried": retried, "skipped": 0, "more": retried < len(found)}
