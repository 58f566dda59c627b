"""Every write of the queue, with every fault, at every moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from jobqueue.errors import JobQueueError, Unavailable
from jobqueue.job import Job
from jobqueue.rescue import Found
from tests.dynamodb.outcomes import anew, stored, undisturbed
from tests.dynamodb.scenarios import ANOTHER, ONE_QUEUE, SAME, SCENARIOS, Scenario
from tests.support.botofaults import Fault, Faults
from tests.support.office import Office

MINTED = frozenset({"lease_token", "marks", "enqueue_token"})
"""What a call that is made again writes otherwise than the first one would have."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_one_fault_changes_nothing(scenario: Scenario, fault: Fault, office: Office, faults: Faults) -> None:
    normal = undisturbed(scenario, office, faults)
    for moment in range(normal.requests):
        office = anew(office)
        found = scenario.prepare(office)
        with faults.on_request(moment, fault) as injected:
            answer = scenario.call(office, found)
        assert injected.total() == 1
        assert answer == normal.answer or (fault.lands and answer == scenario.unsure)
        assert stored(office) == normal.items


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_an_outage_leaves_a_job_whole_and_the_call_can_be_made_again(
    scenario: Scenario, fault: Fault, office: Office, faults: Faults
) -> None:
    normal = undisturbed(scenario, office, faults)
    for moment in range(normal.requests):
        office = anew(office)
        found = scenario.prepare(office)
        before = stored(office)
        with faults.on_request(moment, fault, times=None):
            assert is_told(scenario, office, found)
        now = stored(office)
        assert now == before or (fault.lands and now == normal.items)
        again = outcome(scenario, office, found)
        if scenario.again is ANOTHER:
            assert len(stored(office)) == len(now) + 1
        elif now == before:
            assert without_minted(again) == without_minted(normal.answer)
            assert without_minted(stored(office)) == without_minted(normal.items)
        else:
            assert again == (normal.answer if scenario.again is SAME else scenario.again)
            assert stored(office) == normal.items


OF_THE_INDEX = [scenario for scenario in SCENARIOS if scenario.late]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_the_index_is_asked_by_those_that_say_so(scenario: Scenario, office: Office, faults: Faults) -> None:
    found = scenario.prepare(office)
    with office.calls() as calls:
        scenario.call(office, found)
    assert bool(calls["Query"]) is (scenario in OF_THE_INDEX)


@pytest.mark.parametrize("scenario", OF_THE_INDEX, ids=str)
@pytest.mark.parametrize("fault", [None, Fault.THROTTLED, Fault.LOST_REPLY])
@pytest.mark.parametrize("late_by", range(1, 5))
def test_what_the_index_does_not_show_yet_is_done_when_it_does(
    scenario: Scenario, fault: Fault | None, late_by: int, office: Office, faults: Faults
) -> None:
    normal = undisturbed(scenario, office, faults)
    office, lag = anew(office), 0
    with faults.stale_index(lambda: lag):
        found = scenario.prepare(office)
        before, lag = stored(office), late_by
        with one_of_each(faults, fault):
            answer = scenario.call(office, found)
        if stored(office) == before:
            assert answer in scenario.late
            lag = 0
            office.deploy(ONE_QUEUE)
            answer = scenario.call(office, found)
    assert without_minted(answer) == without_minted(normal.answer)
    assert without_minted(stored(office)) == without_minted(normal.items)


@pytest.mark.parametrize("scenario", OF_THE_INDEX, ids=str)
@pytest.mark.parametrize("fault", [None, Fault.THROTTLED, Fault.LOST_REPLY])
def test_what_the_index_still_shows_is_not_done_again(
    scenario: Scenario, fault: Fault | None, office: Office, faults: Faults
) -> None:
    office, lag = anew(office), 0
    with faults.stale_index(lambda: lag):
        found = scenario.prepare(office)
        scenario.call(office, found)
        done, lag = stored(office), 1
        office.deploy(ONE_QUEUE)  # another process, which remembers nothing
        with one_of_each(faults, fault):
            assert scenario.call(office, found) in scenario.late
    assert stored(office) == done


@contextmanager
def one_of_each(faults: Faults, fault: Fault | None) -> Iterator[None]:
    """Let a fault meet the first request of each kind."""
    with ExitStack() as stack:
        if fault is not None:
            for operation in ("Query", "GetItem", "UpdateItem"):
                stack.enter_context(faults.on(operation, fault))
        yield


def outcome(scenario: Scenario, office: Office, found: Any) -> Any:
    """Return what a call answers, or the class of its error."""
    try:
        return scenario.call(office, found)
    except JobQueueError as error:
        return type(error)


def is_told(scenario: Scenario, office: Office, found: Any) -> bool:
    """Call, and tell whether the caller hears that DynamoDB is out of reach."""
    answer = outcome(scenario, office, found)
    return answer is Unavailable or (isinstance(answer, list) and answer == [Found.BROKEN])


def without_minted(found: Any) -> Any:
    """Leave out of a job, or of items, what each call makes anew."""
    if isinstance(found, Job):
        return found.evolve(lease_token=None)
    if isinstance(found, dict):
        return {
            job_id: {name: value for name, value in item.items() if name not in MINTED}
            for job_id, item in found.items()
        }
    return found
