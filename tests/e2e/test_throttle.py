"""A stack that limits its callers: roles suffice to count, and a caller that sends too much is told so."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from tests.e2e.running import Stack, read_stack, running

PER_SECOND = 1000
COUNTS_PER_WINDOW = 10 * PER_SECOND


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Bring up a stack of its own, with a limit that no test meets by itself."""
    folder = tmp_path_factory.mktemp("limited")
    with running(folder, ["--parameter", f"CallerThrottleRate={PER_SECOND}"]) as process:
        process.wait_until(process.state_file.exists)
        found = read_stack(process.state_file)
        with found.http:
            yield found
        assert process.end() == 0, process.said()


def counts(stack: Stack) -> dict[str, int]:
    """Return how many requests of each caller were counted, over all windows."""
    found: dict[str, int] = {}
    for item in stack.aws.dynamodb().scan(TableName=stack.state.resources["CallersTable"])["Items"]:
        caller = item["caller"]["S"].rpartition("#")[0]
        found[caller] = found.get(caller, 0) + int(item["count"]["N"])
    return found


def test_each_function_behind_the_authorizer_is_granted_to_count(limited: Stack) -> None:
    before = counts(limited).get("key:admin", 0)
    asked = [route for route in limited.state.routes if route not in ("GET /console", "GET /openapi.json")]

    for route in asked:
        method, path = re.sub(r"\{\w+\}", "none", route).split()
        answer = limited.call("admin", method, path, {} if method == "POST" else None)
        assert answer.status_code < 500, (route, answer.text)

    assert len(asked) == 17
    assert counts(limited)["key:admin"] - before == len(asked)


def test_a_caller_that_sent_all_that_it_may_waits_and_the_others_do_not(limited: Stack) -> None:
    window = int(time.time()) // 10
    for later in range(30):  # for five minutes, however slow this machine is
        limited.aws.dynamodb().put_item(
            TableName=limited.state.resources["CallersTable"],
            Item={"caller": {"S": f"key:producer#{window + later}"}, "count": {"N": str(COUNTS_PER_WINDOW)}},
        )

    answer = limited.call("producer", "GET", "/jobs")

    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:jobqueue:problem:too-many-requests"
    assert 1 <= int(answer.headers["retry-after"]) <= 10
    assert limited.call("admin", "GET", "/jobs").status_code == 200


def test_a_stack_as_it_comes_has_no_table_of_callers(stack: Stack) -> None:
    assert stack.call("producer", "GET", "/jobs").status_code == 200
    assert "CallersTable" not in stack.state.resources
