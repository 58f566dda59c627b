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
from io import StringIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode

import pytest
from moto import mock_aws

from jobqueue import telemetry
from jobqueue.api import dependencies
from jobqueue.authorizer import context as authorizer_context
from jobqueue.dynamodb import make_client
from jobqueue.job import Job, parse_timestamp
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from jobqueue.lifecycle import Backoff
from jobqueue.principal import Principal
from jobqueue.queue import JobQueue
from jobqueue.settings import Settings
from jobqueue.table import open_table
from tests.support.callers import admin, producer, worker
from tests.support.clock import START, FakeClock
from tests.support.functions import declared
from tests.support.tables import create_tables

__all__ = ["START", "admin", "authorizer_context", "producer", "worker"]

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REQUEST_ID = "Umx5tgJcliAEPMg="
ENVIRONMENT = {
    "API_KEYS_TABLE": "api-keys",
    "JOBS_TABLE": "jobs",
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
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self.client = client
        self.clock = FakeClock()
        self.queue = JobQueue(
            open_table(Settings.from_env(ENVIRONMENT), JOB_TYPES, client=client),
            JOB_TYPES,
            backoff=Backoff(base_seconds=5, cap_seconds=900),
            clock=self.clock,
            rng=random.Random(7),
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
            return self._through_authorizer(function, request)
        return self.send(function, authorized(request, authorizer_context(caller)))

    def send(self, function: str, event: dict[str, Any]) -> Answer:
        """Give an event to a function as it stands."""
        return _answer(handler(function)(event, None))

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

    def _through_authorizer(self, function: str, request: dict[str, Any]) -> Answer:
        # the gateway's own answers, since it has the authorizer's header as its identity source
        if not any(name.lower() == "authorization" for name in request["headers"]):
            return Answer(401, {}, '{"message":"Unauthorized"}')
        decided = handler("authorize_request")(authorizer_event(request), None)
        if decided["isAuthorized"] is not True:
            return Answer(403, {}, '{"message":"Forbidden"}')
        return self.send(function, authorized(request, decided["context"]))


@contextmanager
def deployed_tables() -> Iterator[DynamoDBClient]:
    """Make the deployment's tables on moto."""
    with mock_aws():
        client = make_client()
        create_tables(client)
        yield client


@contextmanager
def running_stack(client: DynamoDBClient) -> Iterator[Stack]:
    """Run the deployment on tables that `deployed_tables` made, empty at first."""
    for table, key in (("jobs", "id"), ("api-keys", "key_hash")):
        for item in client.scan(TableName=table)["Items"]:
            client.delete_item(TableName=table, Key={key: item[key]})
    stack = Stack(client)
    with dependencies.using(stack.queue, JOB_TYPES):
        yield stack


def handler(function: str) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """Return the handler of a function. `ENVIRONMENT` must be set."""
    loaded: Callable[[dict[str, Any], Any], dict[str, Any]] = import_module(
        f"functions.{function}.app"
    ).lambda_handler
    return loaded


def route(function: str) -> tuple[str, str]:
    """Return the method and the path of a function, as template.yaml has them."""
    for event in declared()[function]["Events"].values():
        if event["Type"] == "HttpApi":
            return event["Properties"]["Method"], event["Properties"]["Path"]
    raise LookupError(function)


def http_event(
    function: str,
    job_id: str | None = None,
    *,
    body: Any = None,
    query: Mapping[str, str] | str | None = None,
    headers: Mapping[str, str] | None = None,
    base64_encoded: bool = False,
    path: str | None = None,
    method: str | None = None,
    request_id: str = REQUEST_ID,
) -> dict[str, Any]:
    """Make the event of a request to the route of `function`, without a caller.

    Parameters
    ----------
    function : str
        The function's folder.
    job_id : str or None
        The id in the path, as it is before it is percent-encoded.
    body : bytes, str, JSON value or None
        Text and bytes are sent as they are.
    query : mapping, str or None
        A mapping, or the raw query string.
    headers : mapping or None
        More headers, or others.
    base64_encoded : bool
        What the event says of the body; the body is not changed.
    path, method : str or None
        Instead of those of the route.
    request_id : str
        The gateway's id of the request.
    """
    route_method, template = route(function)
    raw_query = query if isinstance(query, str) else urlencode(query or {})
    used_method = method or route_method
    used_path = path or template.replace("{id}", quote(job_id or "", safe=""))
    return {
        "version": "2.0",
        "routeKey": f"{route_method} {template}",
        "rawPath": used_path,
        "rawQueryString": raw_query,
        "headers": {
            "accept": "*/*",
            "content-type": "application/json",
            "host": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "user-agent": "curl/8.7.1",
            "x-amzn-trace-id": "Root=1-692bb31a-0c6f8a3e5d7b4f1a2c9e8d70",
            **(headers or {}),
        },
        **({"queryStringParameters": joined_query(raw_query)} if raw_query else {}),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "domainName": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "http": {
                "method": used_method,
                "path": used_path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "curl/8.7.1",
            },
            "requestId": request_id,
            "routeKey": f"{route_method} {template}",
            "stage": "$default",
            "time": "30/Nov/2026:02:26:02 +0000",
            "timeEpoch": 1796005562123,
        },
        **({"pathParameters": {"id": job_id}} if job_id is not None else {}),
        **({"body": _body(body)} if body is not None else {}),
        "isBase64Encoded": base64_encoded,
    }


def joined_query(raw_query: str) -> dict[str, str]:
    """Return a query as the gateway writes it: repeated parameters joined by commas."""
    return {name: ",".join(values) for name, values in parse_qs(raw_query, keep_blank_values=True).items()}


def authorized(event: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return `event` as the gateway passes it on with the authorizer's context."""
    request_context = {**event["requestContext"], "authorizer": {"lambda": dict(context)}}
    return {**event, "requestContext": request_context}


def authorizer_event(event: dict[str, Any]) -> dict[str, Any]:
    """Return what the gateway asks the authorizer about `event`."""
    kept = {name: value for name, value in event.items() if name not in {"body", "isBase64Encoded"}}
    credentials = [value for name, value in event["headers"].items() if name.lower() == "authorization"]
    return {**kept, "type": "REQUEST", "identitySource": credentials}


@contextmanager
def log_lines() -> Iterator[list[dict[str, Any]]]:
    """Collect what the functions log; the list is filled when the block ends."""
    lines: list[dict[str, Any]] = []
    with captured_log() as text:
        yield lines
    lines.extend(json.loads(line) for line in text().splitlines())


@contextmanager
def captured_log() -> Iterator[Callable[[], str]]:
    """Collect the log as text: the yielded function returns all of it so far."""
    stream = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for one in telemetry.logger.handlers:
            patch.setattr(one, "stream", stream)
        yield stream.getvalue


def moment(text: str) -> datetime:
    """Read a timestamp of an answer, which must have the one form that timestamps have."""
    return parse_timestamp(text)


def _body(body: Any) -> str:
    if isinstance(body, bytes):
        return body.decode()
    return body if isinstance(body, str) else json.dumps(body)


def _answer(result: dict[str, Any]) -> Answer:
    # what Lambda does with it: it must be JSON, and API Gateway takes no more than 6 MB
    assert len(json.dumps(result).encode()) < 6_291_456
    assert result.get("isBase64Encoded") is False
    headers = {name.lower(): str(value) for name, value in result["headers"].items()}
    result["body"].encode()
    return Answer(result["statusCode"], headers, result["body"])


def _no_constants(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")
