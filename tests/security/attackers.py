"""Who attacks: an API key for each caller that a test names."""

from __future__ import annotations

from typing import Any

from jobqueue.keys import create_key
from tests.support.http import Stack

JOB_ID = "job_01M8N4C1RBB1Q714Z4VNBP87AS"
ROUTES: dict[str, tuple[str | None, Any]] = {
    "enqueue_job": (None, {"type": "note"}),
    "enqueue_jobs": (None, {"jobs": [{"type": "note"}]}),
    "list_jobs": (None, None),
    "get_job": (JOB_ID, None),
    "claim_job": (None, None),
    "claim_jobs": (None, {"max_jobs": 1}),
    "complete_job": (JOB_ID, None),
    "complete_jobs": (None, {"jobs": [{"id": JOB_ID, "lease_token": "t"}]}),
    "fail_job": (JOB_ID, None),
    "heartbeat_job": (JOB_ID, None),
    "release_job": (JOB_ID, None),
    "cancel_job": (JOB_ID, None),
    "retry_job": (JOB_ID, None),
}
"""A good request to each route: the id in its path, and its body."""
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
