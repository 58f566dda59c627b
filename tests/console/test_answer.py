"""What the function answers, before a browser reads it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from typing import Any

from functions.show_console.app import lambda_handler
from tests.support.template import ROOT


def answer(accept_encoding: str | None = None) -> dict[str, Any]:
    event = json.loads((ROOT / "events" / "show_console.json").read_text(encoding="utf-8"))
    del event["headers"]["accept-encoding"]
    if accept_encoding is not None:
        event["headers"]["accept-encoding"] = accept_encoding
    return lambda_handler(event, None)


def policy() -> dict[str, list[str]]:
    directives = [one.split() for one in answer()["headers"]["Content-Security-Policy"].split(";")]
    return {name: values for name, *values in directives}


def inline(element: str) -> list[str]:
    """Return what the browser hashes of each element of that name."""
    return re.findall(rf"<{element}[^>]*>(.*?)</{element}>", answer()["body"], re.DOTALL)


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_nothing_runs_but_the_one_script_and_the_one_style() -> None:
    assert [digest(text) for text in inline("script")] == policy()["script-src"]
    assert [digest(text) for text in inline("style")] == policy()["style-src"]


def test_the_policy_lets_in_nothing_else() -> None:
    rest = {name: values for name, values in policy().items() if name not in {"script-src", "style-src"}}
    assert rest == {
        "default-src": ["'none'"],
        "img-src": ["data:"],
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["'none'"],
    }


def test_the_page_refers_to_nothing_outside_itself() -> None:
    markup = re.sub(r"<(script|style).*?</\1>", "", answer()["body"], flags=re.DOTALL)
    assert re.findall(r"(?:src|href)=\"(?!data:)", markup) == []
    assert re.findall(r"url\(|@import", inline("style")[0]) == []
    assert not re.search(r"\son\w+=|style=", markup)


def test_no_script_makes_markup_from_text() -> None:
    written = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", inline("script")[0]
    )
    assert written == []


def test_headers_keep_it_to_itself() -> None:
    headers = answer()["headers"]
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-cache"


def test_it_is_packed_for_whoever_takes_it_so() -> None:
    plain, packed = answer(), answer("gzip, deflate, br")
    assert plain["isBase64Encoded"] is False
    assert "Content-Encoding" not in plain["headers"]
    assert packed["headers"]["Content-Encoding"] == "gzip"
    assert packed["isBase64Encoded"] is True
    assert gzip.decompress(base64.b64decode(packed["body"])).decode() == plain["body"]
    assert plain["headers"]["Vary"] == packed["headers"]["Vary"] == "Accept-Encoding"


def test_an_answer_does_not_change_the_next_one() -> None:
    answer("gzip")
    assert "Content-Encoding" not in answer()["headers"]


def test_it_starts_without_what_other_functions_import() -> None:
    program = "import sys, functions.show_console.app; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = {name.partition(".")[0] for name in shown.stdout.split()}
    assert loaded & {"boto3", "botocore", "pydantic", "aws_lambda_powertools", "jobqueue"} == set()
