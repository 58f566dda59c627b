"""The distribution as it is built and installed, in processes and terminals of its own."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobqueue_client import __version__
from tests.client.clocks import PATIENCE, wait_for
from tests.client.conftest import KEY
from tests.client.fake_api import FakeApi
from tests.client.http_server import Server

CLIENT = Path(__file__).parents[3] / "client"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution, built as any installer builds it."""
    # of a copy, since building leaves files behind
    source = tmp_path_factory.mktemp("source") / "client"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys, hatchling.build as b; b.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, source.parent], cwd=source, check=True)
    return next(source.parent.glob("*.whl"))


@pytest.fixture(scope="module")
def prefix(wheel: Path) -> Path:
    """Where the wheel is installed: its own files only, the rest is the environment's."""
    prefix = wheel.parent / "installed"
    subprocess.run([sys.executable, "-m", "installer", "--prefix", prefix, wheel], check=True)
    return prefix


class Terminal:
    """A process with a terminal for its input and output."""

    def __init__(self, args: list[str], environ: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            args, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.shown = b""

    def wait_for(self, text: bytes) -> None:
        wait_for(lambda: self._read() and text in self.shown, f"the terminal showing {text!r}")

    def end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        while self._read():
            pass
        return self._process.wait(PATIENCE)

    def _read(self) -> bool:
        try:
            data = os.read(self._ours, 65_536)
        except OSError:
            # how Linux says that nobody holds the other end any more
            return False
        self.shown += data
        return bool(data)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)
        os.close(self._ours)


class Installed:
    def __init__(self, prefix: Path, url: str) -> None:
        self.script = str(prefix / "bin" / "jobqueue")
        library = sysconfig.get_path("purelib", vars={"base": str(prefix), "platbase": str(prefix)})
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
        self.environ = {
            **kept,
            "PYTHONPATH": library,
            "TERM": "xterm-256color",
            "COLUMNS": "160",
            "JOBQUEUE_URL": url,
            "JOBQUEUE_KEY": KEY,
        }

    def __call__(self, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.script, *args],
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


@pytest.fixture
def api() -> FakeApi:
    return FakeApi(time.monotonic)


@pytest.fixture
def jobqueue(prefix: Path, api: FakeApi) -> Iterator[Installed]:
    with Server.running(api) as server:
        yield Installed(prefix, server.url)


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert {"jobqueue_client/py.typed", "jobqueue_client/cli/app.py"} <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "jobqueue_client",
        f"jobqueue_client-{__version__}.dist-info",
    }
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: httpx<1,>=0.27"]
    assert len([line for line in required if "extra == 'cli'" in line]) == 2


def test_the_script_runs(api: FakeApi, jobqueue: Installed) -> None:
    assert jobqueue("--version").stdout == f"jobqueue, version {__version__}\n"
    made = jobqueue("enqueue", "greet", '{"name": "é"}')
    assert (made.returncode, made.stdout, made.stderr) == (
        0,
        "job_00000000000000000000000000 is pending.\n",
        "",
    )
    assert "\x1b" not in jobqueue("list").stdout
    missing = jobqueue("get", "job_nope")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert missing.stderr == "jobqueue: about job-not-found [request req-1]\n"


def test_without_the_extra_it_says_what_to_install(jobqueue: Installed, tmp_path: Path) -> None:
    for name in ("click", "rich"):
        (tmp_path / f"{name}.py").write_text("raise ModuleNotFoundError(name=__name__)")
        hidden = jobqueue("list", PYTHONPATH=f"{tmp_path}:{jobqueue.environ['PYTHONPATH']}")
        assert (hidden.returncode, hidden.stdout) == (2, "")
        assert hidden.stderr == "jobqueue: the command line is an extra: pip install 'jobqueue-client[cli]'\n"
        (tmp_path / f"{name}.py").unlink()


def test_text_that_the_terminal_cannot_write_is_written_out(api: FakeApi, jobqueue: Installed) -> None:
    job_id = api.add(payload={"name": "日本"})
    shown = jobqueue("get", job_id, PYTHONIOENCODING="latin-1")
    assert (shown.returncode, r'"name": "\u65e5\u672c"' in shown.stdout) == (0, True)


def test_a_reader_that_goes_is_no_error(api: FakeApi, jobqueue: Installed) -> None:
    for _ in range(2_000):
        api.add()
    for args in (["list", "--all"], ["list", "--all", "--json"]):
        with subprocess.Popen(
            [jobqueue.script, *args], env=jobqueue.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(PATIENCE) == 141


@pytest.fixture
def terminal(jobqueue: Installed, api: FakeApi) -> Iterator[Terminal]:
    api.add("\x1b]0;pwned\x07[red]x[/red]", queue="default")
    api.jobs[next(iter(api.jobs))]["status"] = "failed"
    terminal = Terminal([jobqueue.script, "watch", "--interval", "0.2"], jobqueue.environ)
    yield terminal
    terminal.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_live_view_gives_the_terminal_back(
    api: FakeApi, terminal: Terminal, number: signal.Signals, code: int
) -> None:
    terminal.wait_for(b"Failed last")
    api.queues["mail"] = True
    terminal.wait_for(b"paused")
    assert terminal.end(number) == code
    # the screen that was there before, and the cursor
    assert terminal.shown.index(b"\x1b[?1049h") < terminal.shown.rindex(b"\x1b[?1049l")
    assert terminal.shown.rindex(b"\x1b[?25l") < terminal.shown.rindex(b"\x1b[?25h")
    assert b"Traceback" not in terminal.shown
    assert rb"\u001b]0;pwned\u0007[red]x[/red]" in terminal.shown
    assert b"\x1b]0;" not in terminal.shown


def test_colours_are_for_terminals_that_want_them(jobqueue: Installed, api: FakeApi) -> None:
    api.jobs[api.add()]["status"] = "failed"
    shown = {}
    for name, environ in {"colour": {}, "none": {"NO_COLOR": "1"}}.items():
        terminal = Terminal([jobqueue.script, "list"], jobqueue.environ | environ)
        terminal.wait_for(b"failed")
        terminal.end(signal.SIGCONT)
        terminal.close()
        shown[name] = terminal.shown
    assert b"\x1b[1;31mfailed" in shown["colour"]
    assert b"31m" not in shown["none"]
