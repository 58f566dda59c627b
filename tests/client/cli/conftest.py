from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from jobqueue_client import Client
from jobqueue_client.cli.app import cli
from jobqueue_client.cli.session import Session
from jobqueue_client.cli.settings import Profile
from tests.client.clocks import InstantClock
from tests.client.conftest import KEY, URL
from tests.client.fake_api import FakeApi
from tests.client.fake_queue import EPOCH


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def told(self) -> list[dict[str, Any]]:
        """The lines of ``--json``."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class CommandLine:
    """Runs `jobqueue` in this process, against what answers `transport`."""

    transport: httpx.BaseTransport
    clock: InstantClock
    environ: Mapping[str, str] = field(default_factory=lambda: {"JOBQUEUE_URL": URL, "JOBQUEUE_KEY": KEY})
    can_ask: Callable[[], bool] = lambda: False

    def __call__(self, *args: str, stdin: str | bytes = "") -> Outcome:
        # before 8.2, click's runner mixes both streams unless told otherwise
        runner = (
            CliRunner(mix_stderr=False)
            if "mix_stderr" in inspect.signature(CliRunner).parameters
            else CliRunner()
        )
        session = Session(self.connect, self.environ, self.can_ask)
        result = runner.invoke(cli, args, obj=session, input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def connect(self, profile: Profile) -> Client:
        return Client(
            profile.url, profile.key, transport=self.transport, clock=self.clock, random=lambda: 1.0
        )


@pytest.fixture(autouse=True)
def _no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def clock() -> InstantClock:
    # its wall clock goes with the times that the API in memory gives to its jobs
    return InstantClock(wall=EPOCH.timestamp() + 1_000.0)


@pytest.fixture
def jobqueue(api: FakeApi, clock: InstantClock) -> CommandLine:
    return CommandLine(api.transport(), clock)
