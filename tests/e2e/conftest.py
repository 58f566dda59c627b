"""One stack for all tests of this folder, and a second one for what is off unless set.

``JOBQUEUE_STACK=.local/stack.json pytest tests/e2e`` uses the one that `make up` runs in another
terminal, which saves bringing one up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.jobs import those
from tests.e2e.running import PER_SECOND, Stack, read_stack, running
from tests.e2e.watch import Watch
from tests.support.issuer import ENVIRONMENT, JWKS
from tests.support.receiver import Receiver, receiving

JWKS_PATH = "/jwks.json"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and put those last that leave claimers spread, or jobs of every kind."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
    last = [here / f"test_{name}.py" for name in ("client_workers", "floods", "conformance")]
    items.sort(key=lambda item: last.index(item.path) if item.path in last else -1)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Stack]:
    """Bring up the stack; afterwards nothing of it may be left, and it may have told nothing secret."""
    if given := os.environ.get("JOBQUEUE_STACK"):
        found = read_stack(Path(given))
        with found.http, watched(found, pytestconfig):
            yield found
        return
    with brought_up(tmp_path_factory.mktemp("stack"), pytestconfig) as found:
        yield found


@pytest.fixture(scope="session")
def issuer() -> Iterator[Receiver]:
    """Publish the keys of an issuer of JSON Web Tokens, and note who asks for what."""
    with receiving() as publisher:
        publisher.body = json.dumps(JWKS).encode()
        yield publisher


@pytest.fixture(scope="session")
def guarded(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, issuer: Receiver
) -> Iterator[Stack]:
    """Bring up a second stack, with all that is off unless set: a limit for each caller, and an issuer."""
    parameters = {
        "CallerThrottleRate": str(PER_SECOND),
        "JwtIssuer": ENVIRONMENT["JWT_ISSUER"],
        "JwtAudience": ENVIRONMENT["JWT_AUDIENCE"],
        "JwtJwksUrl": issuer.url(path=JWKS_PATH),
        "JwtRoleClaim": ENVIRONMENT["JWT_ROLE_CLAIM"],
    }
    arguments = [one for pair in parameters.items() for one in ("--parameter", "=".join(pair))]
    with brought_up(tmp_path_factory.mktemp("guarded"), pytestconfig, arguments) as found:
        yield found


@contextmanager
def brought_up(folder: Path, config: pytest.Config, arguments: Sequence[str] = ()) -> Iterator[Stack]:
    with running(folder, arguments) as process:
        process.wait_until(process.state_file.exists)
        found = read_stack(process.state_file)
        with found.http, watched(found, config):
            yield found
        assert process.end() == 0, process.said()
        assert process.leavings() == []


@contextmanager
def watched(stack: Stack, config: pytest.Config) -> Iterator[None]:
    """Look through all that the stack has told, when the tests are done with it."""
    watch = Watch(stack.state, stack.aws, stack.credentials)
    with watch.listening():
        yield
        found = watch.search()
    if tally := config.pluginmanager.get_plugin("tally"):
        tally.counts.update({f"looked for what leaks, {kind}": count for kind, count in watch.told.items()})
    assert found == [], "this came out"
    assert watch.told["lines of deployed logs"] > 0


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
