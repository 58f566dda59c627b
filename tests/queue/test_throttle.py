"""How many requests of a caller are let through, and what that asks of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from jobqueue import throttle as throttle_module
from jobqueue.callers import CallersTable
from jobqueue.errors import InvalidSettings, TooManyRequests, Unavailable
from jobqueue.settings import CallerLimit
from jobqueue.throttle import Throttle, open_throttle
from tests.support.botofaults import Fault, Faults
from tests.support.clock import FakeClock
from tests.support.template import resources

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SHOP, STORE = "key:shop", "key:store"
LONGEST = f"jwt:{'i' * 512}#{'s' * 255}"
PerSecond: TypeAlias = Callable[[float], Throttle]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()  # two seconds and a bit after a window began


@pytest.fixture
def throttle(dynamodb: DynamoDBClient, clock: FakeClock) -> PerSecond:
    """Make the throttle of one more process."""
    return lambda per_second: Throttle(CallersTable(dynamodb, "callers"), per_second, clock)


def admitted(throttle: Throttle, caller: str = SHOP, *, times: int) -> int:
    """Send some requests, and tell how many were let through."""
    return sum(is_admitted(throttle, caller) for _ in range(times))


def is_admitted(throttle: Throttle, caller: str = SHOP) -> bool:
    try:
        throttle.admit(caller)
    except TooManyRequests:
        return False
    return True


def items(client: DynamoDBClient) -> list[dict[str, Any]]:
    return list(client.scan(TableName="callers")["Items"])


@pytest.mark.parametrize(
    ("per_second", "most"), [(0.01, 1), (0.1, 1), (0.3, 3), (0.7, 7), (1, 10), (2.5, 25), (1.15, 12)]
)
def test_a_window_has_room_for_ten_seconds_of_the_rate(
    throttle: PerSecond, per_second: float, most: int
) -> None:
    limited = throttle(per_second)
    assert [is_admitted(limited) for _ in range(most + 2)] == [True] * most + [False] * 2


@pytest.mark.parametrize(
    ("advance", "seconds"), [(0, 8), (0.876544, 7), (0.876545, 7), (5, 3), (7, 1), (7.876543, 1)]
)
def test_a_refusal_tells_when_the_window_ends(
    throttle: PerSecond, clock: FakeClock, advance: float, seconds: int
) -> None:
    clock.advance(advance)
    limited = throttle(0.1)
    limited.admit(SHOP)
    for one in (limited, limited, throttle(0.1)):
        with pytest.raises(TooManyRequests) as refused:
            one.admit(SHOP)
        assert refused.value.retry_after_seconds == seconds
    clock.advance(seconds)
    assert is_admitted(limited)


def test_the_first_instant_of_a_window_is_of_that_window(throttle: PerSecond, clock: FakeClock) -> None:
    limited = throttle(0.2)
    clock.advance(7.876543)  # a microsecond is left
    assert admitted(limited, times=3) == 2
    clock.advance(0.000001)
    assert clock.now.microsecond == clock.now.second % 10 == 0
    assert admitted(limited, times=3) == 2
    with pytest.raises(TooManyRequests) as refused:
        limited.admit(SHOP)
    assert refused.value.retry_after_seconds == 10


def test_around_a_border_up_to_twice_as_many_pass_and_not_more(throttle: PerSecond, clock: FakeClock) -> None:
    limited = throttle(1)
    passed = 0
    for _ in range(3000):  # for thirty seconds: the rest of a window, two windows, and the first part of one
        passed += is_admitted(limited)
        clock.advance(0.01)
    assert passed == 4 * 10


def test_callers_do_not_share(throttle: PerSecond) -> None:
    limited = throttle(0.2)
    assert admitted(limited, SHOP, times=5) == 2
    assert admitted(limited, STORE, times=5) == 2


def test_a_caller_whose_id_ends_like_a_window_is_one_of_its_own(
    throttle: PerSecond, clock: FakeClock
) -> None:
    limited = throttle(0.1)
    window = int(clock.now.timestamp()) // 10
    for caller in ("jwt:https://issuer#7", f"jwt:https://issuer#7#{window}", f"jwt:https://issuer#{window}"):
        assert admitted(limited, caller, times=3) == 1


def test_processes_share_the_count(throttle: PerSecond) -> None:
    processes = [throttle(0.5) for _ in range(4)]
    assert sum(is_admitted(process) for process in processes * 3) == 5


def test_a_flood_costs_a_process_one_write_more_than_it_lets_through(
    dynamodb: DynamoDBClient, throttle: PerSecond, clock: FakeClock
) -> None:
    limited = throttle(0.3)
    with Faults.of(dynamodb).counted() as writes:
        assert admitted(limited, times=500) == 3
        assert writes() == 4
        clock.advance(7)  # still the same window
        assert admitted(limited, times=500) == 0
        assert writes() == 4
        assert admitted(limited, STORE, times=500) == 3
        assert writes() == 8
        clock.advance(1)
        assert admitted(limited, times=500) == 3
        assert writes() == 12


def test_what_a_process_remembers_is_bounded_and_goes_with_the_window(
    dynamodb: DynamoDBClient, throttle: PerSecond, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle_module, "MOST_REMEMBERED", 2)
    limited = throttle(0.1)
    callers = [f"key:{number}" for number in range(5)]
    for _ in range(2):
        assert sum(admitted(limited, caller, times=2) for caller in callers) == 5
        with Faults.of(dynamodb).counted() as writes:
            assert sum(admitted(limited, caller, times=1) for caller in callers) == 0
            assert writes() == 3  # the first two are known
        clock.advance(10)


@pytest.mark.parametrize("fault", [Fault.LOST_REPLY, Fault.BROKEN_REPLY])
def test_a_lost_reply_lets_nothing_more_through(
    dynamodb: DynamoDBClient, throttle: PerSecond, fault: Fault
) -> None:
    """Each write is repeated by the SDK and counts twice; the last one is refused by its own success."""
    limited = throttle(0.5)
    passed = 0
    lost = []
    for _ in range(5):
        with Faults.of(dynamodb).on("UpdateItem", fault) as injected:
            passed += is_admitted(limited)
        lost.append(injected.total())
    assert lost == [1, 1, 1, 0, 0]  # the last two are refused from memory
    assert passed == 2
    assert items(dynamodb)[0]["count"] == {"N": "5"}


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.THROTTLED, Fault.UNREACHED])
def test_a_lost_request_counts_once(dynamodb: DynamoDBClient, throttle: PerSecond, fault: Fault) -> None:
    limited = throttle(0.2)
    with Faults.of(dynamodb).on("UpdateItem", fault, times=2):
        assert admitted(limited, times=4) == 2


@pytest.mark.parametrize("fault", list(Fault))
def test_what_cannot_be_counted_is_unavailable_and_not_let_through(
    dynamodb: DynamoDBClient, throttle: PerSecond, fault: Fault
) -> None:
    limited = throttle(10)
    with Faults.of(dynamodb).on("UpdateItem", fault, times=None), pytest.raises(Unavailable):
        limited.admit(SHOP)
    limited.admit(SHOP)  # and is not remembered as a refusal


def test_a_clock_that_is_set_back_lets_no_more_through(throttle: PerSecond, clock: FakeClock) -> None:
    limited = throttle(0.2)
    assert admitted(limited, times=3) == 2
    clock.advance(10)
    assert admitted(limited, times=3) == 2
    clock.advance(-10)
    assert admitted(limited, times=3) == 0


def test_counts_go_by_themselves_long_after_their_window(
    dynamodb: DynamoDBClient, throttle: PerSecond, clock: FakeClock
) -> None:
    throttle(1).admit(SHOP)
    (item,) = items(dynamodb)
    declared = resources("AWS::DynamoDB::Table")["CallersTable"]["Properties"]["TimeToLiveSpecification"]
    goes_at = int(item[declared["AttributeName"]]["N"])
    assert 60 < goes_at - clock.now.timestamp() <= 86_400


def test_a_count_is_one_write_unit_whoever_calls(dynamodb: DynamoDBClient, throttle: PerSecond) -> None:
    throttle(1000).admit(LONGEST)
    (item,) = items(dynamodb)
    size = sum(len(name) + len(str(*value.values())) for name, value in item.items())
    assert len(LONGEST) == 772
    assert size < 1000


def test_a_table_that_is_not_there_is_a_wrong_setting(dynamodb: DynamoDBClient) -> None:
    with pytest.raises(InvalidSettings, match="CALLERS_TABLE"):
        Throttle(CallersTable(dynamodb, "nowhere"), 1, FakeClock()).admit(SHOP)


def test_it_opens_with_the_limit_of_its_environment_and_the_time_of_the_machine(
    dynamodb: DynamoDBClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle_module, "make_client", lambda: dynamodb)
    limited = open_throttle(CallerLimit(table="callers", per_second=0.1))
    assert 1 <= admitted(limited, times=20) <= 2  # a window may end meanwhile
    assert len(items(dynamodb)) >= 1
