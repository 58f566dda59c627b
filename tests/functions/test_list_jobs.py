"""GET /jobs: order, filters, cursors."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from jobqueue.principal import Principal
from tests.support.callers import admin, producer, worker
from tests.support.http import Answer, Stack

HIDDEN = {"payload", "result", "idempotency_key", "error", "errors", "lease_token", "progress"}


def pages(stack: Stack, caller: Principal, **query: Any) -> list[Answer]:
    """Follow the cursors to the end."""
    followed: list[Answer] = []
    while not followed or followed[-1].json["next_cursor"] is not None:
        cursor = {"cursor": followed[-1].json["next_cursor"]} if followed else {}
        answer = stack.call("list_jobs", caller=caller, query={**query, **cursor})
        assert answer.status == 200, answer.text
        followed.append(answer)
        assert len(followed) < 100
    return followed


def listed(stack: Stack, caller: Principal, **query: Any) -> list[str]:
    return [job["id"] for page in pages(stack, caller, **query) for job in page.json["jobs"]]


def one_of_each(stack: Stack) -> dict[str, str]:
    """Make a job in each status."""
    jobs = {}
    for status in ("running", "failed", "completed", "cancelled"):
        jobs[status] = stack.enqueue(max_retries=0)
        if status == "cancelled":
            stack.call("cancel_job", jobs[status], caller=admin())
            continue
        stack.claim()
        if status != "running":
            function = {"failed": "fail_job", "completed": "complete_job"}[status]
            assert stack.call(function, jobs[status], caller=worker()).status == 200
    jobs["pending"] = stack.enqueue()
    return jobs


def test_all_of_them_in_a_fixed_order(stack: Stack) -> None:
    jobs = one_of_each(stack)
    order = ["pending", "running", "failed", "completed", "cancelled"]
    assert listed(stack, admin()) == [jobs[status] for status in order]
    assert listed(stack, admin(), limit=1) == [jobs[status] for status in order]
    for status, job_id in jobs.items():
        assert listed(stack, admin(), status=status) == [job_id]


def test_a_summary_tells_nothing_hidden(stack: Stack) -> None:
    one_of_each(stack)
    for caller in (admin(), producer(), worker()):
        (page,) = pages(stack, caller)
        for job in page.json["jobs"]:
            assert job.keys() & HIDDEN == set()
            assert job["created_by"] == "key:shop"


def test_only_granted_queues(stack: Stack) -> None:
    stack.enqueue()
    report = stack.enqueue(queue="reports")
    assert listed(stack, producer("x", "reports")) == [report]
    refused = stack.call("list_jobs", caller=producer("x", "reports"), query={"queue": "emails"})
    assert (refused.status, refused.problem) == (403, "queue-not-allowed")


def test_fault_10_a_filter_that_few_pass_still_leads_to_the_end(stack: Stack) -> None:
    for _ in range(60):
        stack.enqueue(type="note")
    match = stack.enqueue(type="report", queue="default")
    followed = pages(stack, admin(), type="report", limit=10)
    assert [job["id"] for page in followed for job in page.json["jobs"]] == [match]
    assert all(page.json["next_cursor"] is not None for page in followed[:-1])


def test_pages_neither_repeat_nor_leave_out(stack: Stack) -> None:
    made = [stack.enqueue(queue=queue) for queue in ("default", "reports", "emails") * 5]
    found = listed(stack, admin(), limit=2)
    assert sorted(found) == sorted(made)


def cursor_of(stack: Stack, caller: Principal, **query: Any) -> str:
    answer = stack.call("list_jobs", caller=caller, query={"limit": 1, **query})
    cursor = answer.json["next_cursor"]
    assert isinstance(cursor, str)
    return cursor


def refused(stack: Stack, caller: Principal, cursor: str, **query: Any) -> bool:
    answer = stack.call("list_jobs", caller=caller, query={"limit": 1, **query, "cursor": cursor})
    assert "jobs" not in answer.json or answer.status == 200
    return (answer.status, answer.problem) == (400, "invalid-cursor")


def test_fault_11_a_cursor_works_only_where_it_was_made(stack: Stack) -> None:
    for _ in range(3):
        stack.enqueue(max_retries=0)
        stack.claim()
        stack.call("fail_job", stack.items()[0]["id"]["S"], caller=worker())
    for queue in ("default", "reports", "default", "reports"):
        stack.enqueue(queue=queue)
    cursor = cursor_of(stack, admin(), status="pending")
    assert not refused(stack, admin(), cursor, status="pending")
    assert refused(stack, admin(), cursor, status="failed")
    assert refused(stack, admin(), cursor)
    assert refused(stack, admin(), cursor, status="pending", queue="default")
    assert refused(stack, admin(), cursor, status="pending", type="note")
    assert refused(stack, admin("another"), cursor, status="pending")
    assert refused(stack, admin("ops", "reports"), cursor, status="pending")


def test_fault_11_cursors_of_all_filters(stack: Stack) -> None:
    for _ in range(2):
        stack.enqueue(queue="reports")
    filters = [{}, {"status": "pending"}, {"queue": "reports"}, {"type": "note"}]
    for made_with in filters:
        cursor = cursor_of(stack, admin(), **made_with)
        for used_with in filters:
            assert refused(stack, admin(), cursor, **used_with) is (made_with != used_with)


def changed(cursor: str, change: Any) -> str:
    members = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    text = json.dumps(change(members), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "change",
    [
        lambda members: ["reports/pending/0/0", *members[1:]],
        lambda members: ["default/failed/0", *members[1:]],
        lambda members: [members[0], "~", *members[2:]],
        lambda members: [*members[:2], "job_nope", members[3]],
        lambda members: [*members[:3], "0" * 32],
        lambda members: members[:3],
        lambda members: [*members, "more"],
        lambda _: [1, 2, 3, 4],
        lambda members: {"lane": members[0]},
        lambda _: None,
        lambda members: [[[members]]],
    ],
)
def test_a_forged_cursor_is_refused(stack: Stack, change: Any) -> None:
    for queue in ("default", "default", "reports"):
        stack.enqueue(queue=queue)
    caller = producer("shop", "default")
    assert refused(stack, caller, changed(cursor_of(stack, caller), change))


@pytest.mark.parametrize(
    "text",
    ["x", "!", "e30", "bnVsbA", "", " ", "\ud83d", "😀", "W10", "W" * 5000, "JSU", "AAAA", "WzEsMiwzLDRd"],
)
def test_what_is_no_cursor_is_refused(stack: Stack, text: str) -> None:
    answer = stack.call(
        "list_jobs", caller=admin(), query={"cursor": text.encode("utf-8", "replace").decode()}
    )
    assert (answer.status, answer.problem) == (400, "invalid-cursor")


def test_another_spelling_of_a_cursor_is_refused(stack: Stack) -> None:
    stack.enqueue()
    stack.enqueue()
    cursor = cursor_of(stack, admin())
    for spelling in (
        cursor + "=",
        cursor + "\n",
        " " + cursor,
        changed(cursor, lambda members: members) + "A",
    ):
        assert refused(stack, admin(), spelling)


@pytest.mark.parametrize(
    "limit", ["5.0", " 5 ", "+5", "-5", "5_0", "0x5", "\u0665", "", "a", "1e1", "5" * 20]
)
def test_a_limit_that_is_no_number(stack: Stack, limit: str) -> None:
    answer = stack.call("list_jobs", caller=admin(), query={"limit": limit})
    assert answer.status == 422
    assert answer.fields == {"query.limit": "wrong_type"}


@pytest.mark.parametrize(("limit", "status"), [(0, 422), (1, 200), (100, 200), (101, 422)])
def test_the_limits_of_a_limit(stack: Stack, limit: int, status: int) -> None:
    answer = stack.call("list_jobs", caller=admin(), query={"limit": limit})
    assert answer.status == status
    if status == 422:
        assert answer.fields == {"query.limit": "out_of_range"}


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ({"status": "PENDING"}, "query.status", "unknown_value"),
        ({"status": ""}, "query.status", "unknown_value"),
        ({"status": "pending,failed"}, "query.status", "unknown_value"),
        ({"queue": "nope"}, "query.queue", "unknown_queue"),
        ({"queue": ""}, "query.queue", "unknown_queue"),
        ({"type": "nope"}, "query.type", "unknown_type"),
        ({"colour": "blue"}, "query.colour", "unknown_field"),
        ({"Status": "pending"}, "query.Status", "unknown_field"),
    ],
)
def test_unknown_values_and_parameters(stack: Stack, query: dict[str, str], field: str, code: str) -> None:
    answer = stack.call("list_jobs", caller=admin(), query=query)
    assert answer.status == 422
    assert answer.fields == {field: code}


def test_all_that_is_wrong_with_a_query_at_once(stack: Stack) -> None:
    answer = stack.call("list_jobs", caller=admin(), query="status=x&limit=0&colour=blue&type=a&type=b")
    assert answer.fields == {
        "query.status": "unknown_value",
        "query.limit": "out_of_range",
        "query.colour": "unknown_field",
        "query.type": "repeated",
    }


def test_twenty_by_default(stack: Stack) -> None:
    for _ in range(21):
        stack.enqueue()
    answer = stack.call("list_jobs", caller=admin())
    assert len(answer.json["jobs"]) == 20
    assert answer.json["next_cursor"] is not None


def test_other_routes_have_no_query(stack: Stack) -> None:
    answer = stack.call("get_job", stack.enqueue(), caller=admin(), query="verbose=1")
    assert answer.fields == {"query.verbose": "unknown_field"}
