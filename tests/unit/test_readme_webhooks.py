"""What the README tells receivers of webhooks to write knows a genuine request from a forged one."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from jobqueue.job import utc_now
from jobqueue.webhooks.signing import host_key, shown_key, signature_headers
from tests.support.template import ROOT

HOST = "hooks.example.com"
MASTER = b"made up"
BODY = b'{"order":7}'


@pytest.fixture
def is_genuine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., bool]:
    """The function of the README, with the key that the operator's command prints."""
    monkeypatch.setenv("WEBHOOK_KEY", shown_key(host_key(MASTER, HOST)))
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if "webhook-signature" in block]
    module = tmp_path / "receiver.py"
    module.write_text(block)
    found: Callable[..., bool] = runpy.run_path(str(module))["is_genuine"]
    return found


def signed(host: str = HOST, age: float = 0.0) -> dict[str, str]:
    sent_at = utc_now() - timedelta(seconds=age)
    return signature_headers(host_key(MASTER, host), message_id="job_7", sent_at=sent_at, body=BODY)


def test_a_request_of_ours_is_genuine(is_genuine: Callable[..., bool]) -> None:
    headers = signed()
    assert is_genuine(headers, BODY)
    # while a key is changed, a sender signs with both
    assert is_genuine({**headers, "webhook-signature": f"v1,other {headers['webhook-signature']}"}, BODY)


@pytest.mark.parametrize(
    "headers",
    [
        lambda: signed() | {"webhook-id": "job_8"},
        lambda: signed() | {"webhook-timestamp": "1"},
        lambda: signed() | {"webhook-timestamp": "now"},
        lambda: signed() | {"webhook-signature": "v1,\u00fc"},
        lambda: signed(host="hooks.example.org"),
        lambda: signed(age=600),
        lambda: signed(age=-600),
        dict,
    ],
    ids=["id", "time", "no time", "odd", "another host's", "old", "early", "none"],
)
def test_a_forged_one_is_not(headers: Callable[[], dict[str, str]], is_genuine: Callable[..., bool]) -> None:
    assert not is_genuine(headers(), BODY)


def test_nor_is_one_with_another_body(is_genuine: Callable[..., bool]) -> None:
    assert not is_genuine(signed(), BODY + b" ")
