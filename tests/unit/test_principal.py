"""What a caller may do."""

from __future__ import annotations

import pytest

from jobqueue.errors import QueueNotAllowed, RoleNotAllowed
from jobqueue.job import JobPriority
from jobqueue.principal import Principal, Role
from tests.support.callers import admin, producer, worker


@pytest.mark.parametrize("caller", [producer(), worker(), admin()], ids=lambda caller: caller.role)
def test_a_role_is_allowed_where_it_is_named(caller: Principal) -> None:
    caller.require_role(caller.role)
    caller.require_role(*Role)
    with pytest.raises(RoleNotAllowed):
        caller.require_role(*(role for role in Role if role is not caller.role))
    with pytest.raises(RoleNotAllowed):
        caller.require_role()


def test_a_star_grants_every_queue() -> None:
    worker().require_queue("bulk")
    assert worker().granted(["b", "a"]) == ("b", "a")


def test_only_the_queues_that_are_named_are_granted() -> None:
    caller = worker("mailer", "bulk", "mail")
    caller.require_queue("bulk")
    assert caller.granted(["mail", "default", "bulk"]) == ("mail", "bulk")
    for other in ("default", "bul", "bulk2", "*", ""):
        with pytest.raises(QueueNotAllowed):
            caller.require_queue(other)


def test_no_grant_is_no_queue() -> None:
    caller = Principal(id="key:none", role=Role.WORKER, queues=frozenset(), max_priority=JobPriority.LOW)
    assert not caller.may_use("default")
    assert caller.granted(["default"]) == ()
