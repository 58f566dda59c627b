"""One stack for all tests of this folder.

``JOBQUEUE_STACK=.local/stack.json pytest tests/e2e`` uses the one that `make up` runs in another
terminal, which saves bringing one up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.curl import QUEUE
from tests.e2e.jobs import JsonObject
from tests.e2e.running import Stack, read_stack, running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and put the one last that leaves jobs of every kind behind."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
    items.sort(key=lambda item: item.path == here / "test_conformance.py")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Bring up the stack; afterwards nothing of it may be left."""
    if given := os.environ.get("JOBQUEUE_STACK"):
        found = read_stack(Path(given))
        with found.http:
            yield found
        return
    folder = tmp_path_factory.mktemp("stack")
    with running(folder) as process:
        process.wait_until(process.state_file.exists)
        found = read_stack(process.state_file)
        with found.http:
            yield found
        assert process.end() == 0, process.said()
        assert process.leavings() == []


@pytest.fixture
def empty(stack: Stack) -> Stack:
    """The stack with no job left that a worker could claim: not now, not later, not when a lease is over."""
    while left := those(stack, "pending"):
        for job in left:
            done = stack.call("admin", "POST", f"/jobs/{job['id']}/cancel", {})
            assert done.status_code == 200, done.text
    while left := those(stack, "running"):
        for job in left:  # the same key holds it, so no token is needed
            done = stack.call("worker", "POST", f"/jobs/{job['id']}/complete", {})
            assert done.status_code == 200, f"{job['worker_id']} still holds {job['id']}: {done.text}"
    return stack


def those(stack: Stack, status: str) -> list[JsonObject]:
    answer = stack.call("admin", "GET", f"/jobs?queue={QUEUE}&status={status}&limit=100")
    assert answer.status_code == 200, answer.text
    jobs: list[JsonObject] = answer.json()["jobs"]
    return jobs
