"""GET /openapi.json."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.contract import document
from tests.support.events import http_event
from tests.support.http import handler
from tests.support.template import ROOT

FOLDER = ROOT / "functions" / "show_openapi"


def answer(**headers: str) -> dict[str, Any]:
    return handler("show_openapi")(http_event("show_openapi", headers=headers), None)


def test_it_answers_the_document() -> None:
    answered = answer()
    assert answered["statusCode"] == 200
    assert answered["headers"]["Content-Type"] == "application/json"
    assert json.loads(answered["body"]) == document()


@pytest.mark.parametrize("name", ["accept-encoding", "Accept-Encoding"])
def test_it_is_packed_for_who_takes_it_so(name: str) -> None:
    answered = answer(**{name: "gzip, deflate, br"})
    assert answered["headers"]["Content-Encoding"] == "gzip"
    assert answered["isBase64Encoded"] is True
    unpacked = gzip.decompress(base64.b64decode(answered["body"]))
    assert json.loads(unpacked) == document()
    assert len(answered["body"]) < 40_000


def test_a_cache_keeps_the_two_apart() -> None:
    assert answer()["headers"]["Vary"] == answer(**{"accept-encoding": "gzip"})["headers"]["Vary"]


def test_one_answer_does_not_change_the_next() -> None:
    answer(**{"accept-encoding": "gzip"})
    assert "Content-Encoding" not in answer()["headers"]


def test_it_starts_with_nothing_but_the_standard_library_and_no_environment() -> None:
    code = (
        "import sys; known = set(sys.modules); import app;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - known};"
        "print(*sorted(new - set(sys.stdlib_module_names) - {'app'}))"
    )
    started = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {code}"],
        cwd=FOLDER,
        env={},
        check=True,
        capture_output=True,
        text=True,
    )
    assert started.stdout.strip() == ""
