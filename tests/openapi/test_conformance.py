"""schemathesis looks for a request whose answer the description of the API does not tell, or that is a 5xx.

Without a network: through the gateway of the tests, its authorizer and the functions, on moto.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import schemathesis

from jobqueue.job import is_job_id
from jobqueue.keys import create_key
from jobqueue.queue import NewJob
from jobtypes import JOB_TYPES
from tests.support.callers import admin, producer, worker
from tests.support.conformance import checked_schema, has_null_in_query, role_of
from tests.support.gateway import Gateway
from tests.support.http import ENVIRONMENT, Stack, deployed_tables, running_stack


class Served:
    """The gateway of the stack, which is not there yet when the tests are collected."""

    gateway: Gateway

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Sequence[bytes]:
        return self.gateway(environ, start_response)


SERVED = Served()
schema = checked_schema(examples=12, is_thorough=True)
schema.app = SERVED


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, deployed_tables() as client:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with running_stack(client, JOB_TYPES) as running:
            SERVED.gateway = Gateway(running)
            yield running


@pytest.fixture(scope="module")
def keys(stack: Stack) -> dict[str, str]:
    return {
        role: create_key(f"a-{role}", role=role, queues=("*",)) for role in ("producer", "worker", "admin")
    }


HOLDS = {"complete_job", "fail_job", "heartbeat_job", "release_job"}


def a_job(stack: Stack, function: str) -> str:
    """Leave one job, with which a function can do something, and return its id."""
    for item in stack.items():
        stack.client.delete_item(TableName="jobs", Key={"id": item["id"]})
    new = NewJob(type="webhook", payload={"url": "https://shop.example"})
    job_id = stack.queue.enqueue(producer("a-producer"), new).job.id
    if function in HOLDS:
        stack.queue.claim(worker("a-worker"))
    elif function == "retry_job":
        stack.queue.cancel(admin(), job_id)
    return job_id


@schema.parametrize()
def test_the_api_does_what_its_description_says(
    case: schemathesis.Case[Any], stack: Stack, keys: dict[str, str]
) -> None:
    if has_null_in_query(case):
        return  # WSGI's test client sends nothing for it
    function = case.operation.definition.raw["operationId"]
    if is_job_id(str(case.path_parameters.get("id", ""))):
        case.path_parameters["id"] = a_job(stack, function)
    elif function in {"claim_job", "claim_jobs", "list_jobs"}:
        stack.clock.advance(11)  # a queue that was paused is open again, as far as claimers know
        a_job(stack, function)
    role = role_of(case)
    case.call_and_validate(
        base_url="http://localhost", headers={"Authorization": f"Bearer {keys[role]}"} if role else {}
    )
