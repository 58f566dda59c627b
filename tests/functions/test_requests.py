"""What every route does with a request before it asks the queue: fault 17 among it."""

from __future__ import annotations

from typing import Any

import pytest

from jobqueue.authorizer import context as authorizer_context
from tests.support.callers import admin, producer, worker
from tests.support.events import authorized, http_event
from tests.support.http import Stack

NOTE = {"type": "note"}


def test_fault_17_headers_in_any_case(stack: Stack) -> None:
    event = http_event("enqueue_job", body=NOTE)
    shouted = {**event, "headers": {name.upper(): value for name, value in event["headers"].items()}}
    context = authorizer_context(producer())
    assert stack.send("enqueue_job", authorized(shouted, context)).status == 201


@pytest.mark.parametrize("raw", [True, False])
def test_fault_17_a_repeated_parameter_is_422(stack: Stack, raw: bool) -> None:
    event = http_event("list_jobs", query="status=pending&status=failed")
    assert event["queryStringParameters"] == {"status": "pending,failed"}
    if not raw:
        del event["rawQueryString"]
    answer = stack.send("list_jobs", authorized(event, authorizer_context(producer())))
    assert answer.status == 422
    assert list(answer.fields) == ["query.status"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;charset=utf-8",
        "application/vnd.shop.order+json",
        "application/problem+json; a=b",
        "",
    ],
)
def test_content_types_of_json(stack: Stack, content_type: str) -> None:
    headers = {"content-type": content_type}
    assert stack.call("enqueue_job", caller=producer(), body=NOTE, headers=headers).status == 201


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/jsonp",
        "json",
        "application/json, text/plain",
        ";application/json",
    ],
)
def test_other_content_types_are_415(stack: Stack, content_type: str) -> None:
    headers = {"Content-Type": content_type, "content-type": content_type}
    answer = stack.call("enqueue_job", caller=producer(), body=NOTE, headers=headers)
    assert (answer.status, answer.problem) == (415, "unsupported-media-type")
    assert stack.items() == []


def test_without_a_body_its_type_means_nothing(stack: Stack) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert stack.call("claim_job", caller=worker(), body="", headers=headers).status == 204


def test_the_role_is_checked_before_the_body_is_looked_at(stack: Stack) -> None:
    answer = stack.call("enqueue_job", caller=worker(), body="{" * 200_000)
    assert (answer.status, answer.problem) == (403, "role-not-allowed")


def test_problems_tell_where_and_which_request(stack: Stack) -> None:
    answer = stack.call("get_job", "job_nope", caller=producer(), request_id="R1")
    assert answer.json == {
        "type": "urn:jobqueue:problem:job-not-found",
        "title": "Job not found",
        "status": 404,
        "detail": "There is no such job.",
        "instance": "/jobs/job_nope",
        "request_id": "R1",
    }


def test_routes_that_are_not_there(stack: Stack) -> None:
    def send(method: str, path: str) -> Any:
        event = http_event("get_job", "x", method=method, path=path)
        del event["pathParameters"]
        return stack.send("get_job", authorized(event, authorizer_context(admin())))

    wrong_path = send("GET", "/job")
    assert (wrong_path.status, wrong_path.problem) == (404, "route-not-found")
    wrong_method = send("DELETE", "/jobs/x")
    assert (wrong_method.status, wrong_method.problem) == (405, "method-not-allowed")
    assert wrong_method.headers["allow"] == "GET"


def test_a_stage_in_the_path(stack: Stack) -> None:
    job_id = stack.enqueue()
    event = http_event("get_job", job_id, path=f"/live/jobs/{job_id}")
    event["requestContext"]["stage"] = "live"
    del event["routeKey"]
    assert stack.send("get_job", authorized(event, authorizer_context(admin()))).json["id"] == job_id
