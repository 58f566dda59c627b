"""No command on keys is one write: what is left when it fails, dies, or meets another half-way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from jobqueue.errors import JobQueueError, KeyNameTaken, KeyNotFound, Unavailable
from jobqueue.keys import Keyring, hash_key
from tests.support.keys import WRITES, InterruptedClient, KeysBench, Killed, bench, keys_table, kill, throttle

__all__ = ["bench", "keys_table"]

MOST_WRITES = 6


def create(keyring: Keyring) -> str | None:
    return keyring.create("shop", role="producer")


def rotate(keyring: Keyring) -> str | None:
    return keyring.rotate("shop")


def rotate_with_grace(keyring: Keyring) -> str | None:
    return keyring.rotate("shop", grace_minutes=60)


def revoke(keyring: Keyring) -> str | None:
    keyring.revoke("shop")
    return None


Command = Callable[[Keyring], str | None]
COMMANDS: tuple[Command, ...] = (create, rotate, rotate_with_grace, revoke)
POINTS = [
    pytest.param(command, write, after, id=f"{command.__name__}-{write}-{'after' if after else 'before'}")
    for command, write, after in product(COMMANDS, range(1, MOST_WRITES), (False, True))
]


def prepare(bench: KeysBench, command: Command) -> set[str]:
    """Make what `command` works on, and return the hashes of the keys that were handed out."""
    return set() if command is create else {hash_key(bench.keyring.create("shop", role="producer"))}


def interrupt(bench: KeysBench, command: Command, write: int, event: Callable[[], None], after: bool) -> Any:
    """Run `command` with `event` at one of its writes. Returns its key, or the error."""
    client = InterruptedClient(bench.client, write, event, after=after)
    try:
        return command(bench.keyring_on(client))
    except (JobQueueError, Killed) as error:
        return error
    finally:
        assert client.writes < MOST_WRITES + 1, "more writes than the tests interrupt"


@pytest.mark.parametrize(("command", "write", "after"), POINTS)
def test_a_key_that_was_not_handed_out_does_not_work(
    bench: KeysBench, command: Command, write: int, after: bool
) -> None:
    known = prepare(bench, command)
    outcome = interrupt(bench, command, write, throttle, after)
    if isinstance(outcome, str):
        known.add(hash_key(outcome))
    assert bench.working_hashes() <= known


@pytest.mark.parametrize("end", [throttle, kill])
@pytest.mark.parametrize(("command", "write", "after"), POINTS)
def test_the_same_command_again_does_the_rest(
    bench: KeysBench, command: Command, write: int, after: bool, end: Callable[[], None]
) -> None:
    prepare(bench, command)
    if not isinstance(interrupt(bench, command, write, end, after), Unavailable | Killed):
        return
    try:
        key = command(bench.keyring)
    except KeyNotFound:
        assert command is revoke
        key = None
    except KeyNameTaken:
        assert command is create
        key = bench.keyring.rotate("shop")  # a killed process had made a key that nobody knows
    working = bench.working_hashes()
    if command is rotate_with_grace:
        assert key is not None
        assert hash_key(key) in working
        bench.clock.pass_time(minutes=60)
        working = bench.working_hashes()
    assert working == (set() if key is None else {hash_key(key)})


@pytest.mark.parametrize("end", [throttle, kill])
@pytest.mark.parametrize(("command", "write", "after"), POINTS)
def test_a_name_can_always_be_revoked_and_taken_again(
    bench: KeysBench, command: Command, write: int, after: bool, end: Callable[[], None]
) -> None:
    prepare(bench, command)
    interrupt(bench, command, write, end, after)
    try:
        bench.keyring.revoke("shop")
    except KeyNotFound:
        assert bench.working_hashes() == set()
    assert bench.working_hashes() == set()
    key = bench.keyring.create("shop", role="worker")
    assert bench.working_hashes() == {hash_key(key)}


@pytest.mark.parametrize("other", COMMANDS)
@pytest.mark.parametrize(("command", "write", "after"), POINTS)
def test_two_commands_at_once_leave_no_key_that_nobody_holds(
    bench: KeysBench, command: Command, write: int, after: bool, other: Command
) -> None:
    known = prepare(bench, command)
    outcomes: list[Any] = []

    def meanwhile() -> None:
        try:
            outcomes.append(other(bench.keyring))
        except JobQueueError as error:
            outcomes.append(error)

    outcomes.append(interrupt(bench, command, write, meanwhile, after))
    known |= {hash_key(outcome) for outcome in outcomes if isinstance(outcome, str)}
    assert bench.working_hashes() <= known
    bench.clock.pass_time(minutes=60)
    assert len(bench.working_hashes()) <= 1
    with suppress(KeyNotFound):
        bench.keyring.revoke("shop")
    assert bench.working_hashes() == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_reply_of_a_write_is_lost_once(bench: KeysBench, command: Command) -> None:
    known = prepare(bench, command)
    repeated: list[str] = []

    def lose(attempts: int, operation: Any, **_: Any) -> int | None:
        if attempts == 1 and operation.name in {"PutItem", "UpdateItem", "DeleteItem"}:
            repeated.append(operation.name)
            return 0
        return None

    hooks: Any = bench.client.meta.events
    hooks.register_first("needs-retry.dynamodb", lose)
    try:
        key = command(bench.keyring)
    finally:
        hooks.unregister("needs-retry.dynamodb", lose)
    assert len(repeated) >= 2
    assert bench.keyring.list_keys() == [] if key is None else bench.works(key)
    if command is not rotate_with_grace:
        assert not bench.working_hashes() & known


def test_the_writes_that_are_interrupted_are_all_there_are(bench: KeysBench) -> None:
    assert {"put_item", "update_item", "delete_item"} == WRITES
    for command in (create, rotate_with_grace, rotate, revoke):
        client = InterruptedClient(bench.client, 0, lambda: None)
        command(bench.keyring_on(client))
        assert 0 < client.writes < MOST_WRITES


def test_a_name_that_changes_all_the_time_is_given_up_with_a_clear_error(bench: KeysBench) -> None:
    bench.keyring.create("shop", role="producer")

    class Restless(InterruptedClient):
        def __getattr__(self, name: str) -> Any:
            if name == "delete_item":
                bench.keyring.rotate("shop")
            return super().__getattr__(name)

    with pytest.raises(JobQueueError, match="Another command changed"):
        revoke(bench.keyring_on(Restless(bench.client, 0, lambda: None)))
