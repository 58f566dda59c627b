"""``python -m jobqueue.keys``, as a person at a terminal meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from jobqueue.keys.__main__ import main
from tests.support.keys import KeysBench, bench, keys_table
from tests.support.template import ROOT

__all__ = ["bench", "keys_table"]


class Terminal:
    def __init__(self, bench: KeysBench) -> None:
        self._bench = bench
        self.out = ""
        self.err = ""

    def __call__(self, *arguments: str, client: Any = None) -> int:
        out, err = StringIO(), StringIO()
        code = main(
            ["--table", self._bench.table, *arguments],
            client=client or self._bench.client,
            clock=self._bench.clock,
            out=out,
            err=err,
        )
        self.out, self.err = out.getvalue(), err.getvalue()
        return code


@pytest.fixture
def terminal(bench: KeysBench) -> Terminal:
    return Terminal(bench)


def test_create_prints_the_key_alone_so_that_it_can_be_piped(bench: KeysBench, terminal: Terminal) -> None:
    assert terminal("create", "shop", "--role", "producer", "--queue", "mail") == 0
    key = terminal.out.removesuffix("\n")
    assert bench.works(key)
    assert "shop" in terminal.err
    assert key not in terminal.err


def test_create_takes_every_grant(bench: KeysBench, terminal: Terminal) -> None:
    arguments = "create shop --role producer --queue mail web --queue sms --max-priority HIGH --expires-in 30"
    assert terminal(*arguments.split()) == 0
    found = bench.find(terminal.out.strip())
    assert found is not None
    assert found.queues == {"mail", "web", "sms"}
    assert found.max_priority.value == "high"
    assert found.expires_at is not None
    assert (found.expires_at - bench.clock()).days == 30


def test_list_is_a_table_for_people_and_json_for_programs(terminal: Terminal) -> None:
    terminal("create", "shop", "--role", "producer", "--queue", "mail", "web", "--expires-in", "1")
    key = terminal.out.strip()
    terminal("create", "ops", "--role", "admin", "--queue", "*")
    assert terminal("list") == 0
    lines = terminal.out.splitlines()
    assert " ".join(lines[0].split()) == "NAME ROLE QUEUES MAX PRIORITY STATE CREATED AT ENDS AT"
    assert lines[1].split() == ["ops", "admin", "*", "critical", "active", "2026-11-30T02:26:02.123456Z", "-"]
    assert lines[2].split()[:3] == ["shop", "producer", "mail,web"]
    assert terminal("list", "--json") == 0
    assert key not in terminal.out
    assert json.loads(terminal.out)[1] == {
        "name": "shop",
        "role": "producer",
        "queues": ["mail", "web"],
        "max_priority": "medium",
        "state": "active",
        "created_at": "2026-11-30T02:26:02.123456Z",
        "ends_at": "2026-12-01T02:26:02.123456Z",
    }


def test_an_empty_list(terminal: Terminal) -> None:
    assert terminal("list") == 0
    assert (terminal.out, terminal.err) == ("", "There are no keys.\n")
    assert terminal("list", "--json") == 0
    assert json.loads(terminal.out) == []


def test_rotate_and_revoke(bench: KeysBench, terminal: Terminal) -> None:
    terminal("create", "shop", "--role", "producer", "--queue", "*")
    first = terminal.out.strip()
    assert terminal("rotate", "shop", "--grace", "5") == 0
    second = terminal.out.strip()
    assert "another 5 min" in terminal.err
    assert bench.works(first)
    assert terminal("rotate", "shop") == 0
    third = terminal.out.strip()
    assert [bench.works(key) for key in (first, second, third)] == [False, False, True]
    assert terminal("revoke", "shop") == 0
    assert terminal.out == ""
    assert not bench.works(third)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("create ops --role admin --queue *", 1, "called ops already"),
        ("revoke nobody", 1, "no key is called nobody"),
        ("rotate nobody", 1, "no key is called nobody"),
        ("create Ops --role admin --queue *", 2, "1 to 64 of the characters"),
        ("create new --role admin --queue * mail", 2, "stands alone"),
        ("create new --role worker --queue * --max-priority low", 2, "worker"),
        ("create new --role admin --queue * --expires-in 0", 2, "3650"),
        ("rotate ops --grace -1", 2, "minutes"),
    ],
)
def test_a_refusal_says_why(terminal: Terminal, arguments: str, code: int, said: str) -> None:
    terminal("create", "ops", "--role", "admin", "--queue", "*")
    assert terminal(*arguments.split()) == code
    assert terminal.out == ""
    assert said in terminal.err
    assert terminal.err.startswith("jobqueue.keys: ")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "make x",
        "create",
        "create x --role admin",
        "create x --queue *",
        "create x --role root --queue *",
        "create x --role producer --queue * --max-priority urgent",
        "create x --role producer --queue * --expires-in soon",
        "revoke",
        "list x",
    ],
)
def test_a_wrong_argument_is_a_usage_error(
    terminal: Terminal, arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        terminal(*arguments.split())
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err


class BrokenClient:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **request: Any) -> Any:
            raise self._error

        return call


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NoCredentialsError(), "Unable to locate credentials"),
        (
            ClientError(
                {"Error": {"Code": "ResourceNotFoundException", "Message": "no such table"}}, "PutItem"
            ),
            "no such table",
        ),
        (
            ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "Scan"),
            "slow down",
        ),
    ],
)
@pytest.mark.parametrize("arguments", ["list", "revoke x", "create x --role admin --queue *"])
def test_a_table_out_of_reach_is_told_without_a_traceback(
    terminal: Terminal, error: Exception, said: str, arguments: str
) -> None:
    assert terminal(*arguments.split(), client=BrokenClient(error)) == 3
    assert terminal.out == ""
    assert said in terminal.err


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "jobqueue.keys"]
    library = {"PYTHONPATH": str(ROOT / "layers" / "jobqueue"), "AWS_DEFAULT_REGION": "eu-central-1"}
    shown = subprocess.run([*command, "--help"], env=library, capture_output=True, text=True, check=False)
    assert shown.returncode == 0
    assert "API_KEYS_TABLE" in shown.stdout
    assert "exit codes" in shown.stdout
    failed = subprocess.run([*command, "list"], env=library, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert "API_KEYS_TABLE" in failed.stderr
