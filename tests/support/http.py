"""The deployment without a network: full API Gateway events through authorizer and functions, on moto.

::

    def test_a_producer_cannot_claim(stack: Stack) -> None:
        assert stack.call("claim_job", caller=producer("shop")).problem == "role-not-allowed"

`caller` is a `Principal`, whose context is written as the authorizer writes it, or an API key, which then
goes through the authorizer's function first, or None for no credential.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from moto import mock_aws

from jobqueue.api import dependencies
from jobqueue.authorizer import context as authorizer_context
from jobqueue.callers import CallersTable
from jobqueue.dynamodb import make_client
from jobqueue.job import Job, parse_timestamp
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from jobqueue.lanequeries import open_lane_queries
from jobqueue.lifecycle import Backoff
from jobqueue.operating import Operator
from jobqueue.pauses import Pauses
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue
from jobqueue.queues import open_queues_table
from jobqueue.settings import Settings
from jobqueue.table import open_table
from jobqueue.throttle import Throttle
from tests.support.callers import admin, producer, worker
from tests.support.clock import FakeClock
from tests.support.contract import check_answer
from tests.support.events import authorized, authorizer_event, http_event
from tests.support.tables import create_tables, empty_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENVIRONMENT = {
    "API_KEYS_TABLE": "api-keys",
    "JOBS_TABLE": "jobs",
    "QUEUES_TABLE": "queues",
    "RETENTION_DAYS": "7",
    "BACKOFF_BASE_SECONDS": "5",
    "BACKOFF_CAP_SECONDS": "900",
}
JOB_TYPES = JobTypes(
    queues=[Queue(name="emails"), Queue(name="reports")],
    types=[
        JobType(name="email", payload="jobtypes.payloads:EmailPayload", queue="emails"),
        JobType(name="note", payload="tests.support.payloads:Note", policy=Policy(max_retries=2)),
        JobType(name="report", payload="tests.support.payloads:Note", queue="reports"),
    ],
)
EMAIL = {"to": "a@example.com", "subject": "Hello", "body": "How are you?"}


@dataclass(frozen=True)
class Answer:
    """What a client gets.

    Attributes
    ----------
    status : int
        The HTTP status.
    headers : mapping
        By lower-case name.
    text : str
        The body as it is sent.
    """

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, which must be JSON that any parser takes."""
        return json.loads(self.text, parse_constant=_no_constants)

    @property
    def problem(self) -> str:
        """The name of the problem that the body tells, or the empty string."""
        if self.headers.get("content-type") != "application/problem+json":
            return ""
        told = self.json
        assert told["status"] == self.status
        return str(told["type"]).removeprefix("urn:jobqueue:problem:")

    @property
    def fields(self) -> dict[str, str]:
        """The codes of a 422's field errors, by field."""
        return {error["field"]: error["code"] for error in self.json["errors"]}


class Stack:
    """Tables on moto, and the functions of the deployment on them.

    Attributes
    ----------
    client : DynamoDB client
        Its events can be hooked, to inject faults.
    clock : Clock
        The queue's time. The authorizer's is the real one.
    queue : JobQueue
        What the functions use.
    operator : Operator
        What those use that are about whole queues.
    """

    def __init__(self, client: DynamoDBClient, job_types: JobTypes = JOB_TYPES, **options: Any) -> None:
        settings = Settings.from_env(ENVIRONMENT)
        jobs = open_table(settings, job_types, client=client)
        queues = open_queues_table(settings, client=client)
        self.client = client
        self.job_types = job_types
        self.clock = FakeClock()
        self.queue = JobQueue(
            jobs,
            job_types,
            backoff=Backoff(base_seconds=5, cap_seconds=900),
            clock=self.clock,
            rng=random.Random(7),
            pauses=Pauses(queues, self.clock, (queue.name for queue in job_types.queues)),
            **options,
        )
        self.operator = Operator(
            self.queue,
            jobs,
            open_lane_queries(settings, client=client),
            queues,
            job_types,
            clock=self.clock,
        )

    def call(
        self,
        function: str,
        job_id: str | None = None,
        *,
        caller: Principal | str | None = None,
        body: Any = None,
        **event: Any,
    ) -> Answer:
        """Send a request to a function.

        Parameters
        ----------
        function : str
            Its folder, which also gives the route.
        job_id : str or None
            The id in its path.
        caller : Principal, str or None
            Who calls: a principal, an API key, or nobody.
        body : bytes, str, JSON value or None
            A JSON value is written as JSON.
        **event
            See `http_event`.
        """
        request = http_event(function, job_id, body=body, **event)
        if isinstance(caller, str):
            request["headers"].setdefault("authorization", f"Bearer {caller}")
        if not isinstance(caller, Principal):
            return self.authorize(function, request)
        return self.send(function, authorized(request, authorizer_context(caller)))

    def send(self, function: str, event: dict[str, Any]) -> Answer:
        """Give an event to a function as it stands. The description of the API must fit the answer."""
        answer = _answer(handler(function)(event, None))
        check_answer(function, answer)
        return answer

    def enqueue(self, caller: Principal | None = None, **body: Any) -> str:
        """Put a job in its queue and return its id; by default a note of a producer's."""
        answer = self.call("enqueue_job", caller=caller or producer(), body={"type": "note", **body})
        assert answer.status == 201, answer.text
        return str(answer.json["id"])

    def claim(self, caller: Principal | None = None, **body: Any) -> dict[str, Any]:
        """Take a job and return the answer."""
        answer = self.call("claim_job", caller=caller or worker(), body=body)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def read(self, job_id: str) -> Job:
        """Return the job as the table has it."""
        return self.queue.get(admin(), job_id)

    def items(self) -> list[dict[str, Any]]:
        """Return all items of the jobs table."""
        return list(self.client.scan(TableName="jobs")["Items"])

    def throttle(self, per_second: float) -> Throttle:
        """Return what counts the requests of callers in one more process of the deployment."""
        return Throttle(CallersTable(self.client, "callers"), per_second, self.clock)

    @contextmanager
    def limiting(self, per_second: float) -> Iterator[Throttle]:
        """Limit how fast each caller may send requests to the functions."""
        throttle = self.throttle(per_second)
        with dependencies.using(self.queue, self.job_types, self.operator, throttle):
            yield throttle

    def counts(self) -> dict[str, int]:
        """Return all counts of the callers table, by its key."""
        return {
            item["caller"]["S"]: int(item["count"]["N"])
            for item in self.client.scan(TableName="callers")["Items"]
        }

    def authorize(self, function: str, request: dict[str, Any]) -> Answer:
        """Give a request to a function if the authorizer knows the credential, as the gateway does."""
        # its own answers, since it has the authorizer's header as its identity source
        if not any(name.lower() == "authorization" for name in request["headers"]):
            return _of_gateway(function, 401, "Unauthorized")
        decided = handler("authorize_request")(authorizer_event(request), None)
        if decided["isAuthorized"] is not True:
            return _of_gateway(function, 403, "Forbidden")
        return self.send(function, authorized(request, decided["context"]))


@contextmanager
def deployed_tables() -> Iterator[DynamoDBClient]:
    """Make the deployment's tables on moto."""
    with mock_aws():
        client = make_client()
        create_tables(client)
        yield client


@contextmanager
def running_stack(client: DynamoDBClient, job_types: JobTypes = JOB_TYPES, **options: Any) -> Iterator[Stack]:
    """Run the deployment on tables that `deployed_tables` made, empty at first.

    Parameters
    ----------
    client : DynamoDB client
        Of moto.
    job_types : JobTypes
        What the deployment declares.
    **options
        More of `JobQueue`.
    """
    empty_tables(client)
    stack = Stack(client, job_types, **options)
    with dependencies.using(stack.queue, job_types, stack.operator):
        yield stack


def handler(function: str) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """Return the handler of a function. `ENVIRONMENT` must be set."""
    loaded: Callable[[dict[str, Any], Any], dict[str, Any]] = import_module(
        f"functions.{function}.app"
    ).lambda_handler
    return loaded


def moment(text: str) -> datetime:
    """Read a timestamp of an answer, which must have the one form that timestamps have."""
    return parse_timestamp(text)


def _answer(result: dict[str, Any]) -> Answer:
    # what Lambda does with it: it must be JSON, and API Gateway takes no more than 6 MB
    assert len(json.dumps(result).encode()) < 6_291_456
    assert result.get("isBase64Encoded") is False
    headers = {name.lower(): str(value) for name, value in result["headers"].items()}
    result["body"].encode()
    return Answer(result["statusCode"], headers, result["body"])


def _of_gateway(function: str, status: int, message: str) -> Answer:
    answer = Answer(status, {"content-type": "application/json"}, json.dumps({"message": message}))
    check_answer(function, answer)
    return answer


def _no_constants(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")
