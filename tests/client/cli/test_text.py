"""Whatever text is in a job is shown as text."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import httpx
import pytest

from jobqueue_client.cli.text import compact, duration, plain, pretty
from tests.client.cli.conftest import CommandLine
from tests.client.clocks import InstantClock

HOSTILE = (
    "\x1b[31m\x1b[2J\x1b]0;pwned\x07\x1b]8;;http://x\x1b\\\x9b1;5H\x90q\x9c"
    "\r\n\t\b\x00\x7f\x85\u2028\u202egnp.exe\u2066\u200b\ufeff\ud83d\U000e0041[bold]b[/bold] :smile: 100%é"
)
SAFE = "[bold]b[/bold] :smile: 100%é"
AT = "2026-11-30T00:00:00.000000Z"
JOB: dict[str, Any] = {
    **dict.fromkeys(("id", "type", "queue", "priority", "status"), HOSTILE),
    **dict.fromkeys(("created_by", "worker_id", "idempotency_key", "error"), HOSTILE),
    **{name: {HOSTILE: [HOSTILE, {"a": HOSTILE}]} for name in ("payload", "result", "progress")},
    **dict.fromkeys(("created_at", "available_at", "claimed_at", "finished_at"), AT),
    "retry_count": 0,
    "max_retries": 3,
    "errors": [{"error": HOSTILE, "failed_at": AT, "worker_id": HOSTILE}],
}
QUEUE: dict[str, Any] = {
    "name": HOSTILE,
    "paused": True,
    "counts": {"pending": {HOSTILE: 3}},
    "oldest_age_seconds": 1,
}
PROBLEM: dict[str, Any] = {
    **dict.fromkeys(("title", "detail", "request_id"), HOSTILE),
    "type": f"urn:jobqueue:problem:{HOSTILE}",
    "errors": [dict.fromkeys(("field", "code", "message"), HOSTILE)],
}


def answer(request: httpx.Request) -> httpx.Response:
    """Answer every call with hostile text."""
    path = request.url.path
    body = JOB
    if path.endswith("/queues"):
        body = {"queues": [QUEUE]}
    elif path.endswith(("/pause", "/resume")):
        body = QUEUE
    elif path.endswith("/batch"):
        jobs = [{"status": 422, "problem": PROBLEM}, {"status": 201, "job": JOB}]
        body = {"results": jobs}
    elif request.method == "GET" and path.endswith("/jobs"):
        body = {"jobs": [JOB, {**JOB, "status": "running"}], "next_cursor": None}
    return httpx.Response(200, content=json.dumps(body))


def refuse(_: httpx.Request) -> httpx.Response:
    return httpx.Response(422, content=json.dumps(PROBLEM))


COMMANDS = [
    (("get", "job_1"), ""),
    (("list",), ""),
    (("cancel", "job_1"), ""),
    (("retry", "job_1"), ""),
    (("enqueue", "greet"), ""),
    (("enqueue", "greet", "--lines"), "{}\n{}"),
    (("queues",), ""),
    (("pause", "default"), ""),
    (("resume", "default"), ""),
    (("watch", "job_1", "--timeout", "1"), ""),
]


def assert_harmless(text: str) -> None:
    for character in text:
        kind = unicodedata.category(character)
        assert character == "\n" or kind not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}, hex(ord(character))


@pytest.mark.parametrize(("args", "stdin"), COMMANDS, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("colour", [False, True])
def test_what_is_in_a_job_cannot_act_on_the_terminal(
    clock: InstantClock,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    stdin: str,
    colour: bool,
) -> None:
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
    outcome = CommandLine(httpx.MockTransport(answer), clock)(*args, stdin=stdin)
    out = re.sub(r"\x1b\[[0-9;]*m", "", outcome.out) if colour else outcome.out
    for text in (out, outcome.err):
        assert_harmless(text)
    assert SAFE in out + outcome.err
    # a colour of the job's own would have been taken for one of ours above
    assert r"\u001b[31m" in out + outcome.err


@pytest.mark.parametrize(("args", "stdin"), COMMANDS, ids=lambda value: str(value)[:30])
def test_what_is_in_an_error_cannot_act_on_the_terminal(
    clock: InstantClock, args: tuple[str, ...], stdin: str
) -> None:
    outcome = CommandLine(httpx.MockTransport(refuse), clock)(*args, stdin=stdin)
    assert (outcome.code, outcome.out) == (1, "")
    assert_harmless(outcome.err)
    assert SAFE in outcome.err
    errors = [line for line in outcome.err.splitlines() if line.startswith("jobqueue: ")]
    assert len(errors) == 1


@pytest.mark.parametrize(("args", "stdin"), COMMANDS, ids=lambda value: str(value)[:30])
def test_json_is_ascii_and_says_all(clock: InstantClock, args: tuple[str, ...], stdin: str) -> None:
    outcome = CommandLine(httpx.MockTransport(answer), clock)(*args, "--json", stdin=stdin)
    assert outcome.out.isascii()
    assert_harmless(outcome.out)
    assert HOSTILE in {value for line in outcome.told for value in line.values() if isinstance(value, str)}


def test_an_error_is_cut_where_it_gets_too_long(clock: InstantClock) -> None:
    fields = [dict.fromkeys(("field", "code", "message"), "x" * 100) for _ in range(100)]
    transport = httpx.MockTransport(lambda _: httpx.Response(422, json={"errors": fields}))
    assert len(CommandLine(transport, clock)("list").err) < 2_100


@pytest.mark.parametrize(
    "text",
    [
        "",
        "é",
        "日本語",
        "👩\u200d🚀",
        "\u0645\u06cc\u200c\u062e\u0648",
        "10\u00a0%",
        "\\n",
        "a" * 1000,
        "e\u0301",
    ],
)
def test_text_that_is_harmless_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b", r"\u001b"),
        ("\x9b", r"\u009b"),
        ("\n", r"\n"),
        ("\t", r"\t"),
        ("\x7f", r"\u007f"),
        ("\u202e", r"\u202e"),
        ("\ud83d", r"\ud83d"),
        ("\U000e0041", r"\udb40\udc41"),
    ],
)
def test_what_is_not_harmless_is_written_as_json_does(text: str, shown: str) -> None:
    assert plain(f"a{text}b") == f"a{shown}b"
    assert json.loads(pretty({"k": text})) == {"k": text}
    assert json.loads(compact(text)) == text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0s"), (0.9, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")],
)
def test_a_duration_has_one_unit(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
