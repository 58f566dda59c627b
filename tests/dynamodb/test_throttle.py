"""How many requests of one caller pass when many processes are asked at once, and what counting costs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from jobqueue.callers import CallersTable
from jobqueue.errors import TooManyRequests
from jobqueue.throttle import Throttle
from tests.bench.meter import Bill, Meter
from tests.support.botofaults import Fault, Faults
from tests.support.clock import FakeClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PROCESSES = 16
EACH = 10
LONGEST = f"jwt:{'i' * 512}#{'s' * 255}"


def all_at_once(throttles: list[Throttle], caller: str) -> int:
    """Let each process be asked some times, all of them side by side; tell how many requests passed."""
    start = Barrier(len(throttles))

    def ask(throttle: Throttle) -> int:
        start.wait()
        passed = 0
        for _ in range(EACH):
            try:
                throttle.admit(caller)
            except TooManyRequests:
                continue
            passed += 1
        return passed

    with ThreadPoolExecutor(len(throttles)) as pool:
        return sum(pool.map(ask, throttles))


@pytest.mark.parametrize("most", [1, 7, 100, 159, 160, 500])
def test_exactly_as_many_pass_as_may(shared_client: DynamoDBClient, most: int) -> None:
    table, clock = CallersTable(shared_client, "callers"), FakeClock()
    throttles = [Throttle(table, most / 10, clock) for _ in range(PROCESSES)]
    for _ in range(3):
        assert all_at_once(throttles, f"key:at-most-{most}") == min(most, PROCESSES * EACH)
        clock.advance(10)


def test_threads_of_one_process_share_what_it_knows(shared_client: DynamoDBClient) -> None:
    throttle = Throttle(CallersTable(shared_client, "callers"), 5, FakeClock())
    assert all_at_once([throttle] * PROCESSES, "key:threads") == 50


def test_replies_that_are_lost_let_nothing_more_through(
    shared_client: DynamoDBClient, faults: Faults
) -> None:
    throttle = Throttle(CallersTable(shared_client, "callers"), 2, FakeClock())
    passed = 0
    for number in range(30):
        with faults.on("UpdateItem", Fault.LOST_REPLY, times=number % 2):
            try:
                throttle.admit("key:lost")
            except TooManyRequests:
                continue
            passed += 1
    assert 10 <= passed < 20


@pytest.mark.parametrize("caller", ["key:shop", LONGEST])
def test_a_request_costs_one_write_unit_more(shared_client: DynamoDBClient, caller: str) -> None:
    throttle = Throttle(CallersTable(shared_client, "callers"), 0.2, FakeClock())
    meter = Meter(shared_client)
    steps: list[tuple[Callable[[], object], Bill]] = [
        (lambda: throttle.admit(caller), Bill(calls=1, write_units=1)),
        (lambda: throttle.admit(caller), Bill(calls=1, write_units=1)),
        (lambda: refused(throttle, caller), Bill(calls=1, write_units=1, refused=1)),
        (lambda: refused(throttle, caller), Bill()),
    ]
    for step, bill in steps:
        with meter.measure() as measured:
            step()
        assert measured == bill


def refused(throttle: Throttle, caller: str) -> None:
    with pytest.raises(TooManyRequests):
        throttle.admit(caller)
