"""A stack that limits its callers: roles suffice to count, and a caller that sends too much is told so."""

from __future__ import annotations

import re
import time

from tests.e2e.running import PER_SECOND, Stack

COUNTS_PER_WINDOW = 10 * PER_SECOND


def counts(stack: Stack) -> dict[str, int]:
    """Return how many requests of each caller were counted, over all windows."""
    found: dict[str, int] = {}
    for item in stack.aws.dynamodb().scan(TableName=stack.state.resources["CallersTable"])["Items"]:
        caller = item["caller"]["S"].rpartition("#")[0]
        found[caller] = found.get(caller, 0) + int(item["count"]["N"])
    return found


def test_each_function_behind_the_authorizer_is_granted_to_count(guarded: Stack) -> None:
    before = counts(guarded).get("key:admin", 0)
    asked = [route for route in guarded.state.routes if route not in ("GET /console", "GET /openapi.json")]

    for route in asked:
        method, path = re.sub(r"\{\w+\}", "none", route).split()
        answer = guarded.call("admin", method, path, {} if method == "POST" else None)
        assert answer.status_code < 500, (route, answer.text)

    assert len(asked) == 17
    assert counts(guarded)["key:admin"] - before == len(asked)


def test_a_caller_that_sent_all_that_it_may_waits_and_the_others_do_not(guarded: Stack) -> None:
    window = int(time.time()) // 10
    for later in range(30):  # for five minutes, however slow this machine is
        guarded.aws.dynamodb().put_item(
            TableName=guarded.state.resources["CallersTable"],
            Item={"caller": {"S": f"key:producer#{window + later}"}, "count": {"N": str(COUNTS_PER_WINDOW)}},
        )

    answer = guarded.call("producer", "GET", "/jobs")

    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:jobqueue:problem:too-many-requests"
    assert 1 <= int(answer.headers["retry-after"]) <= 10
    assert guarded.call("admin", "GET", "/jobs").status_code == 200


def test_a_stack_as_it_comes_has_no_table_of_callers(stack: Stack) -> None:
    assert stack.call("producer", "GET", "/jobs").status_code == 200
    assert "CallersTable" not in stack.state.resources
