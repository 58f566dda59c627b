"""What is in the layers is told, and an audit that could not look says so."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from local.audit import CLEAN, FOUND, KNOWN_TO_BE_BAD, NOT_AUDITED, locks, pins
from tests.support.template import ROOT


def advisory(name: str) -> dict[str, Any]:
    """Make an entry of the database, as https://ossf.github.io/osv-schema/ has it."""
    package = {"name": name, "ecosystem": "PyPI"}
    every = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}
    return {
        "id": f"PYSEC-{name}",
        "summary": "made up",
        "details": "made up",
        "published": "2026-01-01T00:00:00Z",
        "modified": "2026-01-01T00:00:00Z",
        "affected": [{"package": package, "ranges": [every]}],
    }


@contextmanager
def database(bad: set[str], status: int = 200, text: str | None = None) -> Iterator[str]:
    """Run a database that knows something of the packages `bad`, and tell its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["package"]["name"]
            found = {"vulns": [advisory(asked)]} if asked in bad else {}
            body = (json.dumps(found) if text is None else text).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()


def audit(url: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "local.audit", "--osv-url", url]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": "."}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


BAD, _ = KNOWN_TO_BE_BAD


def test_nothing_known_of_any_package_is_good_news() -> None:
    with database({BAD}) as url:
        status, said = audit(url)
    assert status == CLEAN
    assert "something is known of 0" in said
    assert BAD not in said


def test_what_is_known_is_told() -> None:
    with database({BAD, "pyjwt"}) as url:
        status, said = audit(url)
    assert status == FOUND
    assert re.search(r"^pyjwt [\d.]+: PYSEC-pyjwt$", said, re.MULTILINE)


@pytest.mark.parametrize(
    "odd",
    [{"bad": set()}, {"bad": {BAD}, "status": 503}, {"bad": {BAD}, "text": "<html>"}],
    ids=["knows nothing", "is down", "is something else"],
)
def test_a_database_that_does_not_know_is_no_audit(odd: dict[str, Any]) -> None:
    with database(**odd) as url:
        status, said = audit(url)
    assert status == NOT_AUDITED
    assert said.startswith("not audited: ")


def test_nor_is_one_that_cannot_be_reached() -> None:
    with database({BAD}) as url:
        pass
    status, said = audit(url)
    assert status == NOT_AUDITED
    assert said.startswith(f"not audited: {url}")


@pytest.mark.parametrize("lock", locks(), ids=lambda lock: lock.parent.name)
def test_the_bill_of_materials_names_every_package_with_its_hashes(lock: Path, tmp_path: Path) -> None:
    environment = Path(sys.executable).parents[1]
    # the environment that runs this test must not be made anew under it, however new the locks are
    as_it_is = f"--old-file={environment}/.ready"
    subprocess.run(
        ["make", "--silent", as_it_is, "sbom", f"VENV={environment}", f"SBOM={tmp_path}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    bill = json.loads((tmp_path / f"{lock.parent.name}.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    components = {(one["name"], one["version"]): one for one in bill["components"]}
    assert components.keys() == set(pins(lock))
    for (name, version), component in components.items():
        assert component["purl"] == f"pkg:pypi/{name}@{version}"
        assert any(reference.get("hashes") for reference in component["externalReferences"])
