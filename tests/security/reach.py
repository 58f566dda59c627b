"""Who reaches whose job by which route: the table, and how a job comes to be where the table has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jobqueue.principal import Principal, Role
from tests.support.callers import admin, producer, worker
from tests.support.http import Answer, Stack

WHOSE = ("own", "granted", "not granted", "no longer granted", "absent")
"""The caller's own job (a worker's is the one that it holds, or held), another's in a queue that is granted,
another's in one that is not, the caller's own in one that was granted once, and none at all."""

STATES = ("pending", "running", "failed", "completed")

_ALL = "producer worker admin"
_TABLE = f"""
# whose job:                                      own  granted  not granted  no longer  absent
# ---------------------------------------------------------------------- about one job
get_job       | {_ALL}        | any               | 200+ 200+ 404 404  404
cancel_job    | producer      | pending running   | 200+ 404  404 404  404
cancel_job    | producer      | failed completed  | 409  404  404 404  404
cancel_job    | admin         | pending running   | 200+ 200+ 404 404  404
cancel_job    | admin         | failed completed  | 409  409  404 404  404
retry_job     | admin         | failed            | 200+ 200+ 404 404  404
retry_job     | admin         | pending running completed | 409 409 404 404 404
# who holds a job finishes it, whatever was granted since
complete_job  | worker        | running           | 200+ 409  409 200+ 409
complete_jobs | worker        | running           | 200+ 409  409 200+ 409
fail_job      | worker        | running           | 200+ 409  409 200+ 409
release_job   | worker        | running           | 200+ 409  409 200+ 409
heartbeat_job | worker        | running           | 200  409  409 200  409
complete_job complete_jobs fail_job release_job heartbeat_job \
              | worker        | pending failed completed | 409 409 409 409 409
# ---------------------------------------------------------------------- about the queue of the job
list_jobs     | {_ALL}        | any               | 200+ 200+ 403 403  422
list_queues   | {_ALL}        | running           | 200+ 200+ 200 200  200
enqueue_job   | producer admin | running          | 200+ 201  403 403  422
enqueue_jobs  | producer admin | running          | 200+ 201  403 403  422
claim_job     | worker        | pending           | 200+ 200+ 403 403  422
claim_job     | worker        | running failed completed | 204 204 403 403 422
claim_jobs    | worker        | pending           | 200+ 200+ 403 403  422
claim_jobs    | worker        | running failed completed | 200 200 403 403 422
pause_queue resume_queue | admin | running         | 200  200  404 404  404
retry_jobs    | admin         | any               | 200  200  404 404  404
"""
"""The status, with `+` where the answer tells of the job or of its queue. What is not here is 403."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What becomes of one attempt."""

    role: Role
    function: str
    state: str
    whose: str
    status: int
    is_told: bool

    def is_of(self, role: Role, function: str) -> bool:
        return (self.role, self.function) == (role, function)

    def __str__(self) -> str:
        return f"{self.role.value} {self.function} {self.state} {self.whose}"


def _cells() -> Iterator[Cell]:
    for line in _TABLE.strip().splitlines():
        if line.startswith("#"):
            continue
        functions, roles, states, answers = (part.split() for part in line.split("|"))
        for function in functions:
            for role in map(Role, roles):
                for state in STATES if states == ["any"] else states:
                    for whose, answer in zip(WHOSE, answers, strict=True):
                        status, is_told = int(answer.rstrip("+")), answer.endswith("+")
                        yield Cell(role, function, state, whose, status, is_told)


CELLS = tuple(_cells())
ALLOWED = {cell.function: {one.role for one in CELLS if one.function == cell.function} for cell in CELLS}
"""The roles that may use a route at all."""

ABOUT_A_JOB = {cell.function for cell in CELLS if cell.function.endswith("_job")} - {
    "enqueue_job",
    "claim_job",
} | {"complete_jobs"}
HOLDING = ("complete_job", "complete_jobs", "fail_job", "heartbeat_job", "release_job")
UNKNOWN, MALFORMED = "job_01M8N4C1RBB1Q714Z4VNBP87AS", "job_nope"
NAMES = {Role.PRODUCER: "shop", Role.WORKER: "mailer", Role.ADMIN: "ops"}
_MAKE = {Role.PRODUCER: producer, Role.WORKER: worker, Role.ADMIN: admin}


def caller(role: Role, *queues: str) -> Principal:
    """Return the caller of a role, who is granted one queue unless told otherwise."""
    made: Principal = _MAKE[role](NAMES[role], *(queues or ("default",)))
    return made


@dataclass(frozen=True, slots=True)
class Target:
    """A job that somebody is after, its lease's token, and its queue."""

    id: str
    lease_token: str
    queue: str
    body: dict[str, Any]


_MADE: dict[tuple[Role, str, str], tuple[Target, dict[str, Any]]] = {}
"""The jobs that were made in one test's table, for those of the others: they lived alike up to there."""


def target(stack: Stack, role: Role, state: str, whose: str) -> Target:
    """Put the job there, with something private in every field."""
    if (role, state, whose) in _MADE:
        found, item = _MADE[role, state, whose]
        stack.client.put_item(TableName="jobs", Item=item)
        return found
    found = _lived(stack, role, state, whose)
    if items := [item for item in stack.items() if item["id"]["S"] == found.id]:
        _MADE[role, state, whose] = found, items[0]
    return found


def _lived(stack: Stack, role: Role, state: str, whose: str) -> Target:
    """Let the job live, by the routes that there are, until it is in that state."""
    is_near = whose in ("own", "granted")
    queue = "default" if is_near else "reports"
    body = {
        "type": "note" if is_near else "report",
        "queue": queue,
        "payload": {"secret": "CANARY-payload"},
        "idempotency_key": f"CANARY-key {whose} {state}",
    }
    if whose in ("absent", "malformed"):
        is_absent = whose == "absent"
        return Target(
            UNKNOWN if is_absent else MALFORMED, "token-of-nobody", "nowhere", body | {"queue": "nowhere"}
        )
    is_own = whose in ("own", "no longer granted")
    owner = caller(role, queue) if is_own and role is not Role.WORKER else producer("other", queue)
    holder = caller(role, queue) if is_own and role is Role.WORKER else worker("second", queue)
    job_id = stack.enqueue(owner, **body)

    def held(function: str, token: str, **more: Any) -> None:
        answer = stack.call(function, job_id, caller=holder, body={"lease_token": token, **more})
        assert answer.status == 200, answer.text

    token = stack.claim(holder)["lease_token"]
    held("fail_job", token, error="CANARY-error", retry_in_seconds=0)
    if state != "pending":
        token = stack.claim(holder)["lease_token"]
        held("heartbeat_job", token, progress="half")
    if state == "failed":
        held("fail_job", token, error="CANARY-error", discard=True)
    if state == "completed":
        held("complete_job", token, result={"secret": "CANARY-result"})
    return Target(job_id, token, queue, body)


def attempt(stack: Stack, by: Principal, function: str, at: Target) -> Answer:
    """Call the route about the job. The caller has even got hold of the lease's token."""
    held = {"lease_token": at.lease_token}
    requests: dict[str, dict[str, Any]] = {
        "complete_jobs": {"body": {"jobs": [{"id": at.id, **held}]}},
        "list_jobs": {"query": {"queue": at.queue}},
        "list_queues": {},
        "enqueue_job": {"body": at.body},
        "enqueue_jobs": {"body": {"jobs": [at.body]}},
        "claim_job": {"body": {"queues": [at.queue]}},
        "claim_jobs": {"body": {"queues": [at.queue], "max_jobs": 5}},
        "pause_queue": {"queue": at.queue},
        "resume_queue": {"queue": at.queue},
        "retry_jobs": {"queue": at.queue, "body": {"status": "failed"}},
    }
    about_it = {"job_id": at.id, "body": held if function in HOLDING else None}
    answer = stack.call(function, caller=by, **requests.get(function, about_it))
    if answer.status != 200 or function not in ("complete_jobs", "enqueue_jobs"):
        return answer
    (result,) = answer.json["results"]
    return Answer(result["status"], answer.headers, json.dumps(result.get("job") or result["problem"]))
