"""What every test runs under: no network, nobody's credentials, no bytecode beside the code."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.enforcing import PolicyWatch
from tests.support.leaks import LeakWatch
from tests.support.tally import Tally
from tests.support.untraced import leave_moto_untraced

# sam packs functions/ as it lies there: the bytecode of this Python must not lie there too
sys.pycache_prefix = str(Path(__file__).parents[1] / ".build" / "pycache")

# no test tells the time, or it would fail on a slow machine
settings.register_profile("jobqueue", deadline=None)
settings.load_profile("jobqueue")


def pytest_configure(config: pytest.Config) -> None:
    """Forget whose account this machine belongs to, before any client is made; watch what comes out."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # a shell starts what it puts into the background so, and what tests start would never hear of Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    if config.getoption("cov_source"):
        leave_moto_untraced()
    tally = Tally()
    config.pluginmanager.register(LeakWatch(tally.counts), "leaks")
    config.pluginmanager.register(PolicyWatch(tally.counts), "policies")
    config.pluginmanager.register(tally, "tally")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a report be sent to another process, whatever the test printed: halves of surrogate pairs too."""
    report = yield
    report.sections = [(name, text.encode(errors="replace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(scope="session", autouse=True)
def only_loopback() -> Iterator[None]:
    """Let no test leave the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex"):
            patch.setattr(socket.socket, method, _guarded(getattr(socket.socket, method)))
        yield


def _guarded(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise RuntimeError(f"a test tried to reach {address[0]}")
        return connect(self, address)

    return guarded


def _is_loopback(host: str) -> bool:
    return host == "localhost" or ipaddress.ip_address(host.partition("%")[0]).is_loopback
