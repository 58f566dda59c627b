"""What `make up` prints is pasted into a shell, command by command, and must do what it says."""

from __future__ import annotations

import re
import subprocess

import pytest

from local.show import text
from tests.e2e.running import Stack


@pytest.fixture
def pasted(empty: Stack) -> str:
    """Everything that a shell answers to all that is printed, in one session."""
    script = "\n".join(f"{line}" for line in text(empty.state).splitlines() if is_command(line))
    done = subprocess.run(["bash", "-eu", "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def is_command(line: str) -> bool:
    """Tell a command from the sentences around it."""
    return (
        re.match(r"[A-Z]+=|field\(|curl |JOB=|ANSWER=|export |  -H|#|\S+python |PYTHONPATH=", line)
        is not None
    )


def test_the_printed_commands_live_the_life_of_a_job(pasted: str, empty: Stack) -> None:
    statuses = re.findall(r'"status": ?"(\w+)"', pasted)

    assert statuses[:3] == ["pending", "pending", "running"]
    assert "completed" in statuses
    assert "failed" in statuses
    assert "urn:jobqueue:problem" not in pasted
    assert '"message"' not in pasted


def test_the_printed_commands_list_the_keys(pasted: str) -> None:
    listed = [line.split()[:2] for line in pasted.splitlines() if " active " in line]

    # keys that other tests made are listed, too
    assert [key for key in listed if key[0] in {"admin", "producer", "worker"}] == [
        ["admin", "admin"],
        ["producer", "producer"],
        ["worker", "worker"],
    ]
