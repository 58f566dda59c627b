"""Who attacks: an API key for each caller that a test names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobqueue.keys import create_key
from tests.support.functions import declared
from tests.support.http import Stack

JOB_ID = "job_01M8N4C1RBB1Q714Z4VNBP87AS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A good request to a route."""

    job_id: str | None = None
    queue: str | None = None
    body: Any = None

    @property
    def parts(self) -> dict[str, Any]:
        """As `Stack.call` and `http_event` take it."""
        return {"job_id": self.job_id, "queue": self.queue, "body": self.body}


ROUTES = {
    "enqueue_job": Request(body={"type": "note"}),
    "enqueue_jobs": Request(body={"jobs": [{"type": "note"}]}),
    "list_jobs": Request(),
    "get_job": Request(job_id=JOB_ID),
    "claim_job": Request(),
    "claim_jobs": Request(body={"max_jobs": 1}),
    "complete_job": Request(job_id=JOB_ID),
    "complete_jobs": Request(body={"jobs": [{"id": JOB_ID, "lease_token": "t"}]}),
    "fail_job": Request(job_id=JOB_ID),
    "heartbeat_job": Request(job_id=JOB_ID),
    "release_job": Request(job_id=JOB_ID),
    "cancel_job": Request(job_id=JOB_ID),
    "retry_job": Request(job_id=JOB_ID),
    "list_queues": Request(),
    "pause_queue": Request(queue="default"),
    "resume_queue": Request(queue="default"),
    "retry_jobs": Request(queue="default", body={"status": "failed"}),
}
"""Every route behind the authorizer, by its function."""


def behind_the_authorizer() -> set[str]:
    """Return the functions with a route in template.yaml that not everybody may call."""
    return {
        name
        for name, properties in declared().items()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "HttpApi" and event["Properties"].get("Auth", {}).get("Authorizer") != "NONE"
    }


ATTACKS = [
    "#status",
    ":now",
    ":pending",
    "x OR attribute_exists(id)",
    "SET status = :completed",
    "a') OR ('1'='1",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "; DROP TABLE jobs",
    "__proto__",
    "\u202e",
    "id#\u0000",
    "~",
    "default/pending/0/0",
]
"""Texts that mean something to DynamoDB, to a lane, to a template, to a database or to a reader."""


class Keys:
    """An API key for each caller that a test names."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._keys: dict[str, str] = {}

    def key(
        self, name: str, role: str, queues: tuple[str, ...] = ("*",), max_priority: str | None = None
    ) -> str:
        if name not in self._keys:
            self._keys[name] = create_key(name, role=role, queues=queues, max_priority=max_priority)
        return self._keys[name]

    def producer(self, name: str = "shop", **grants: Any) -> str:
        return self.key(name, "producer", **grants)

    def worker(self, name: str = "mailer", **grants: Any) -> str:
        return self.key(name, "worker", **grants)

    def admin(self, name: str = "ops", **grants: Any) -> str:
        return self.key(name, "admin", **grants)

    def enqueue(self, key: str, **body: Any) -> str:
        """Put a note in its queue and return its id."""
        answer = self._stack.call("enqueue_job", caller=key, body={"type": "note", **body})
        assert answer.status == 201, answer.text
        return str(answer.json["id"])

    def claim(self, key: str) -> str:
        """Take a job and return the lease token."""
        answer = self._stack.call("claim_job", caller=key)
        assert answer.status == 200, answer.text
        return str(answer.json["lease_token"])
