"""What a deployment may declare, and what is refused before any function starts."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from jobqueue.errors import InvalidJobTypes
from jobqueue.jobtype import JobType, JobTypes, Policy, Queue
from tests.support.payloads import Note
from tests.support.template import ROOT

NOTE = "tests.support.payloads:Note"


def note(name: str = "note", queue: str = "default", policy: Policy | None = None) -> JobType:
    return JobType(name=name, payload=NOTE, queue=queue, policy=policy or Policy())


@pytest.mark.parametrize("name", ["", "Mail", "a b", "a/b", "a.b", "ä", "a\n", "x" * 65])
def test_a_malformed_queue_is_refused(name: str) -> None:
    with pytest.raises(InvalidJobTypes, match="malformed"):
        JobTypes([], [Queue(name=name)])


@pytest.mark.parametrize("name", ["a", "x" * 64, "bulk-mail_2"])
def test_a_queue_is_declared_by_its_name(name: str) -> None:
    assert JobTypes([], [Queue(name=name)]).has_queue(name)


@pytest.mark.parametrize("name", ["", "Note", "a b", "a#b", "a/b", "note\n", "x" * 65])
def test_a_malformed_type_is_refused(name: str) -> None:
    with pytest.raises(InvalidJobTypes, match="malformed"):
        JobTypes([note(name)])


@pytest.mark.parametrize("shards", [0, -1, 1001])
def test_shards_out_of_range_are_refused(shards: int) -> None:
    with pytest.raises(InvalidJobTypes, match="shards must be 1 to 1000"):
        JobTypes([], [Queue(name="bulk", shards=shards)])


@pytest.mark.parametrize(
    "policy, message",
    [
        (Policy(max_retries=-1), "max_retries must be 0 to 100"),
        (Policy(max_retries=101), "max_retries must be 0 to 100"),
        (Policy(lease_seconds=4), "lease_seconds must be 5 to 43200"),
        (Policy(lease_seconds=43_201), "lease_seconds must be 5 to 43200"),
        (Policy(backoff_base_seconds=-0.1), "backoff_base_seconds must be 0 to 86400"),
        (Policy(backoff_base_seconds=math.nan), "backoff_base_seconds must be 0 to 86400"),
        (Policy(backoff_base_seconds=math.inf), "backoff_base_seconds must be 0 to 86400"),
        (Policy(backoff_cap_seconds=-1), "backoff_cap_seconds must be 0 to 604800"),
        (Policy(backoff_cap_seconds=math.inf), "backoff_cap_seconds must be 0 to 604800"),
        (Policy(backoff_cap_seconds=1e12), "backoff_cap_seconds must be 0 to 604800"),
    ],
)
def test_a_policy_out_of_range_is_refused(policy: Policy, message: str) -> None:
    with pytest.raises(InvalidJobTypes, match=f"type 'note': {message}"):
        JobTypes([note(policy=policy)])


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(max_retries=0, lease_seconds=5, backoff_base_seconds=0, backoff_cap_seconds=0),
        Policy(
            max_retries=100, lease_seconds=43_200, backoff_base_seconds=86_400, backoff_cap_seconds=604_800
        ),
    ],
)
def test_a_policy_up_to_its_limits_is_taken(policy: Policy) -> None:
    assert JobTypes([note(policy=policy)]).policy("note") == policy


def test_a_type_needs_a_declared_queue() -> None:
    with pytest.raises(InvalidJobTypes, match="'bulk' is not declared"):
        JobTypes([note(queue="bulk")])


def test_nothing_is_declared_twice() -> None:
    with pytest.raises(InvalidJobTypes, match="'note' is declared twice"):
        JobTypes([note(), note()])
    with pytest.raises(InvalidJobTypes, match="'bulk' is declared twice"):
        JobTypes([], [Queue(name="bulk"), Queue(name="bulk", shards=2)])


def test_the_default_queue_always_exists() -> None:
    assert JobTypes([]).has_queue("default")
    assert JobTypes([], [Queue(name="default", shards=2)]).shards("default") == 2


def test_types_and_queues_are_told_by_name() -> None:
    job_types = JobTypes([note("b"), note("a")], [Queue(name="z"), Queue(name="c")])
    assert [queue.name for queue in job_types.queues] == ["c", "default", "z"]
    assert [job_type.name for job_type in job_types.types] == ["a", "b"]


def test_a_type_is_found_by_its_name() -> None:
    job_types = JobTypes([note()])
    found = job_types.get("note")
    assert found is not None
    assert found.payload_model is Note
    assert job_types.get("Note") is None


def test_what_is_not_declared_any_more_still_has_a_policy_and_a_shard() -> None:
    job_types = JobTypes([], [Queue(name="wide", shards=4)])
    assert job_types.policy("removed") == Policy()
    assert job_types.shards("removed") == 1
    assert job_types.shards("wide") == 4
    assert not job_types.has_queue("removed")


def test_declaring_types_does_not_import_pydantic() -> None:
    # a claim never validates a payload, and the import is a large part of a cold start
    code = "import sys, jobtypes; sys.exit('pydantic' in sys.modules)"
    path = f"{ROOT}/layers/jobqueue:{ROOT}/layers/jobtypes"
    ended = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": path}, check=False)
    assert ended.returncode == 0
