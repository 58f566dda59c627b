"""How the stack begins and ends."""

from __future__ import annotations

import errno
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from local import state
from local.__main__ import arguments
from tests.e2e.running import Running, Stack, running, wait_until


def test_only_its_owner_reads_the_keys(stack: Stack, tmp_path: Path) -> None:
    written = tmp_path / "stack.json"
    state.write(stack.state, written)

    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert state.read(written) == stack.state


def test_it_listens_on_one_address_alone(stack: Stack) -> None:
    port = int(stack.state.endpoint.rpartition(":")[2])

    # Another address of this machine is free on that port, or is not there (as on macOS).
    with socket.socket() as beside:
        assert errno_of(lambda: beside.bind(("127.0.0.2", port))) in (0, errno.EADDRNOTAVAIL)
        assert errno_of(lambda: beside.bind(("127.0.0.1", port))) != 0


@pytest.mark.parametrize("family, address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_busy_port_is_one_clear_line(tmp_path: Path, family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as taken:
        port = taken.getsockname()[1]
        process = Running(tmp_path, port)
        process.wait_until(lambda: process.exit_code is not None)
        process.clean_up()

    assert process.exit_code == 1
    assert process.said() == f"error: port {port} is in use; choose another: make up PORT={port + 1}"
    assert process.leavings() == []


@pytest.mark.parametrize("text", ["", "0", "65536", "4566x", "-1"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SystemExit):
        arguments(["--port", text])


def test_a_failing_step_shows_what_the_tool_said_and_ends_it_all(tmp_path: Path) -> None:
    with running(tmp_path, ["--parameter", "RetentionDays=0"]) as process:
        process.wait_until(lambda: process.exit_code is not None)

        assert process.exit_code == 1
        assert process.said().endswith("error: sam deploy failed (exit 1)")
        assert "RetentionDays" in process.said()
        assert process.leavings() == []


@pytest.mark.parametrize(
    "number, step",
    [(signal.SIGINT, "Deploying"), (signal.SIGTERM, "Building"), (signal.SIGHUP, "Building")],
)
def test_it_ends_in_the_middle_of_a_step_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, step: str
) -> None:
    with running(tmp_path) as process:
        process.wait_until(lambda: step in process.said())

        assert process.end(number) == 0
        assert process.leavings() == []


def test_killed_outright_it_still_leaves_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.wait_until(lambda: "Deploying" in process.said())
        process.end(signal.SIGKILL)

        wait_until(lambda: process.leavings() == [])


def test_the_end_of_the_emulator_is_the_end_of_it_all(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.wait_until(process.state_file.exists)
        process.kill_emulator()
        process.wait_until(lambda: process.exit_code is not None)

        assert process.exit_code == 1
        assert "MiniStack ended unexpectedly" in process.said()
        assert process.leavings() == []


def errno_of(act: Callable[[], None]) -> int:
    try:
        act()
    except OSError as error:
        return error.errno or -1
    return 0
