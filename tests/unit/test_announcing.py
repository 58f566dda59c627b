"""What the event bus is told, and what is sent again when it does not take it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from jobqueue.announcing import MOST_ENTRIES, TRIES, EventBus
from jobqueue.changes import Change, Happened
from jobqueue.job import JobPriority, JobStatus, JobSummary
from tests.support.clock import START
from tests.support.samples import JOB_ID

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

TRACE = "1-692bb31a-0c6f8a3e5d7b4f1a2c9e8d70"


def a_change(number: int = 0, happened: Happened | None = Happened.COMPLETED, **fields: Any) -> Change:
    job = JobSummary(
        id=JOB_ID,
        type="note",
        queue="default",
        priority=JobPriority.HIGH,
        status=JobStatus.COMPLETED,
        retry_count=1,
        max_retries=3,
        available_at=START,
        created_by="key:shop",
        created_at=START,
        claimed_at=START + timedelta(seconds=1),
        worker_id="key:mailer",
        finished_at=START + timedelta(seconds=2),
    )
    change = {"id": f"event-{number}", "sequence": str(number), "before": job, "after": job}
    times = {"changed_at": START + timedelta(seconds=2), "trace_id": TRACE}
    return Change(**{**change, **times, "happened": happened, **fields})


@pytest.fixture
def events() -> EventBridgeClient:
    client: EventBridgeClient = boto3.client("events")
    return client


@pytest.fixture
def stub(events: EventBridgeClient) -> Iterator[Stubber]:
    with Stubber(events) as stub:
        yield stub
        stub.assert_no_pending_responses()


def taken(count: int) -> dict[str, Any]:
    return {"FailedEntryCount": 0, "Entries": [{"EventId": f"e{number}"} for number in range(count)]}


def partly(*codes: str | None) -> dict[str, Any]:
    entries = [{"ErrorCode": code, "ErrorMessage": "no"} if code else {"EventId": "e"} for code in codes]
    return {"FailedEntryCount": sum(code is not None for code in codes), "Entries": entries}


def test_an_event(events: EventBridgeClient, stub: Stubber) -> None:
    sent: list[Any] = []
    events.meta.events.register(
        "provide-client-params.events.PutEvents", lambda params, **_: sent.append(params)
    )
    stub.add_response("put_events", taken(1))
    assert EventBus(events, "jobqueue-jobs").announce([a_change()]) == 1
    (entry,) = sent[0]["Entries"]
    detail = json.loads(entry.pop("Detail"))
    assert entry == {
        "EventBusName": "jobqueue-jobs",
        "Source": "jobqueue",
        "DetailType": "JobCompleted",
        "Time": START + timedelta(seconds=2),
    }
    assert detail == {
        "id": JOB_ID,
        "type": "note",
        "queue": "default",
        "priority": "high",
        "status": "completed",
        "retry_count": 1,
        "max_retries": 3,
        "created_by": "key:shop",
        "worker_id": "key:mailer",
        "available_at": "2026-11-30T02:26:02.123456Z",
        "created_at": "2026-11-30T02:26:02.123456Z",
        "claimed_at": "2026-11-30T02:26:03.123456Z",
        "finished_at": "2026-11-30T02:26:04.123456Z",
        "trace_id": TRACE,
        "cause": None,
        "change_id": "event-0",
    }


@pytest.mark.parametrize(
    "happened, lost, expected",
    [
        (Happened.COMPLETED, False, ("JobCompleted", None)),
        (Happened.FAILED, False, ("JobFailed", None)),
        (Happened.FAILED, True, ("JobFailed", "lease-expired")),
        (Happened.CANCELLED, False, ("JobCancelled", None)),
        (Happened.RETRIED, False, ("JobRetried", "attempt-failed")),
        (Happened.RETRIED, True, ("JobRetried", "lease-expired")),
        (Happened.REVIVED, False, ("JobRetried", "asked")),
        (Happened.TAKEN_OVER, True, ("JobRetried", "lease-expired")),
    ],
)
def test_names_and_causes(
    events: EventBridgeClient, stub: Stubber, happened: Happened, lost: bool, expected: tuple[str, str | None]
) -> None:
    sent: list[Any] = []
    events.meta.events.register(
        "provide-client-params.events.PutEvents", lambda params, **_: sent.append(params)
    )
    stub.add_response("put_events", taken(1))
    EventBus(events, "bus").announce([a_change(happened=happened, lease_ran_out=lost)])
    (entry,) = sent[0]["Entries"]
    assert (entry["DetailType"], json.loads(entry["Detail"])["cause"]) == expected


@pytest.mark.parametrize("happened", [None, Happened.ENQUEUED, Happened.CLAIMED, Happened.RELEASED])
def test_what_is_no_event(events: EventBridgeClient, stub: Stubber, happened: Happened | None) -> None:
    assert EventBus(events, "bus").announce([a_change(happened=happened)] * 3) == 3


def test_ten_at_a_time(events: EventBridgeClient, stub: Stubber) -> None:
    for size in (MOST_ENTRIES, MOST_ENTRIES, 5):
        stub.add_response("put_events", taken(size), {"Entries": [ANY] * size})
    # one after the other, since a stub expects calls in an order
    bus = EventBus(events, "bus")
    changes = [a_change(number) for number in range(25)]
    assert [bus.announce(part) for part in (changes[:10], changes[10:20], changes[20:])] == [10, 10, 5]


def test_entries_that_are_refused_are_sent_again_alone(events: EventBridgeClient, stub: Stubber) -> None:
    stub.add_response("put_events", partly(None, "ThrottlingException", None, "InternalFailure"))
    stub.add_response("put_events", partly("ThrottlingException", None), {"Entries": [ANY] * 2})
    stub.add_response("put_events", taken(1), {"Entries": [ANY]})
    assert EventBus(events, "bus").announce([a_change(number) for number in range(4)]) == 4


def test_what_the_bus_never_takes_is_told_by_its_place(events: EventBridgeClient, stub: Stubber) -> None:
    stub.add_response("put_events", partly(None, None, "InternalFailure", None))
    for _ in range(TRIES - 1):
        stub.add_response("put_events", partly("InternalFailure"))
    changes = [a_change(0), a_change(1, None), *(a_change(number) for number in range(2, 5))]
    assert EventBus(events, "bus").announce(changes) == 3


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException", "InternalException"])
def test_a_call_that_fails_altogether(events: EventBridgeClient, stub: Stubber, code: str) -> None:
    stub.add_client_error("put_events", code)
    assert EventBus(events, "bus").announce([a_change(0, None), a_change(1), a_change(2)]) == 1


def test_nothing_to_tell(events: EventBridgeClient, stub: Stubber) -> None:
    assert EventBus(events, "bus").announce([]) == 0
