from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.client.cli.conftest import CommandLine
from tests.client.clocks import InstantClock
from tests.client.fake_api import FakeApi


def payloads(api: FakeApi) -> list[object]:
    return [job["payload"] for job in api.jobs.values()]


def test_a_payload_comes_from_the_argument_a_file_or_standard_input(
    api: FakeApi, jobqueue: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "payload.json"
    path.write_text('\ufeff{"from": "é"}', encoding="utf-8")
    made = jobqueue("enqueue", "greet", '{"from": "argument"}')
    assert (made.code, made.out, made.err) == (0, "job_00000000000000000000000000 is pending.\n", "")
    assert jobqueue("enqueue", "greet", f"@{path}").code == 0
    assert jobqueue("enqueue", "greet", "-", stdin='{"from": "stdin"}').code == 0
    assert jobqueue("enqueue", "greet", "@-", stdin='{"from": "stdin too"}').code == 0
    assert jobqueue("enqueue", "greet", stdin='{"from": "nowhere"}').code == 0
    assert payloads(api) == [
        {"from": "argument"},
        {"from": "é"},
        {"from": "stdin"},
        {"from": "stdin too"},
        {},
    ]


def test_what_is_given_is_sent(api: FakeApi, jobqueue: CommandLine) -> None:
    given = ("--queue", "q", "--priority", "HIGH", "--max-retries", "0", "--idempotency-key", "k")
    assert jobqueue("enqueue", "greet", *given, "--delay", "15m").code == 0
    assert api.calls[-1].body == {
        "type": "greet",
        "payload": {},
        "queue": "q",
        "priority": "high",
        "max_retries": 0,
        "delay_seconds": 900,
        "idempotency_key": "k",
    }
    assert jobqueue("enqueue", "greet", "--run-at", "2027-01-01T12:00:00+02:00").code == 0
    assert api.calls[-1].body["run_at"] == "2027-01-01T10:00:00+00:00"


def test_a_known_key_is_told(jobqueue: CommandLine) -> None:
    args = ("enqueue", "greet", "--idempotency-key", "k")
    assert jobqueue(*args, "--json").told[0]["created"] is True
    assert jobqueue(*args).out.endswith(" is pending, made by an earlier call with this key.\n")
    assert jobqueue(*args, "--json").told[0]["created"] is False
    assert jobqueue(*args, '{"n": 1}').code == 1


def test_a_job_without_a_key_whose_answers_are_lost_may_be_there(api: FakeApi, jobqueue: CommandLine) -> None:
    api.faults += [("post", "lost")] * 5
    outcome = jobqueue("enqueue", "greet")
    assert outcome.code == 5
    assert outcome.err.splitlines()[0] == "The job may have been made all the same."


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[1]", "not an object"),
        ("null", "not an object"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' is there twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1e999}', "1e999 does not fit"),
        ('{"a": 1e-999}', "1e-999 does not fit"),
        ('{"a": 1e-99999999999999999999}', "does not fit"),
        ('{"a": 0.12345678901234567890}', "does not fit"),
        ('{"a": "\\ud83d"}', "surrogate"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a": ' + "1" * 5_000 + "}", "is not acceptable JSON"),
        ("@/nowhere/at/all", "/nowhere/at/all cannot be read: No such file"),
        ("@/", "cannot be read"),
        ("@/dev/zero", "larger than"),
    ],
)
def test_a_payload_that_would_not_arrive_as_it_is_is_refused_before_the_call(
    api: FakeApi, jobqueue: CommandLine, payload: str, why: str
) -> None:
    outcome = jobqueue("enqueue", "greet", payload)
    assert (outcome.code, outcome.out) == (2, "")
    assert why in outcome.err
    assert outcome.err.count("\n") == 1
    assert api.calls == []


def test_numbers_arrive_as_they_are(api: FakeApi, jobqueue: CommandLine) -> None:
    numbers = '{"a":30.4,"b":0.10,"c":-0.0,"d":1E3,"e":' + "9" * 39 + "}"
    assert jobqueue("enqueue", "greet", numbers).code == 0
    assert payloads(api) == [json.loads(numbers)]


def test_standard_input_that_is_no_text_is_refused(jobqueue: CommandLine) -> None:
    outcome = jobqueue("enqueue", "greet", "-", stdin=b'{"a": "\xff"}')
    assert (outcome.code, "standard input is not UTF-8" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    "args",
    [
        ("--delay", "1.5"),
        ("--delay", "-1"),
        ("--delay", "1w"),
        ("--run-at", "noon"),
        ("--run-at", "2027-01-01T12:00:00"),
        ("--run-at", "9999-12-31T23:00:00-02:00"),
        ("--delay", "1", "--run-at", "2027-01-01T12:00:00Z"),
        ("--timeout", "1"),
        ("--lines", "--wait"),
        ("--max-retries", "-1"),
        ("--priority", ""),
    ],
)
def test_options_that_cannot_be_meant_are_refused_before_the_call(
    api: FakeApi, jobqueue: CommandLine, args: tuple[str, ...]
) -> None:
    outcome = jobqueue("enqueue", "greet", *args)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert api.calls == []


@pytest.mark.parametrize(("status", "code"), [("completed", 0), ("failed", 6), ("cancelled", 6)])
def test_waiting_ends_with_the_job(
    api: FakeApi, jobqueue: CommandLine, clock: InstantClock, status: str, code: int
) -> None:
    args = ("enqueue", "greet", "--idempotency-key", "k", "--wait")
    job_id = jobqueue(*args[:-1], "--json").told[0]["id"]
    api.jobs[job_id] |= {"status": status, "result": {"ok": 1}}
    ended = jobqueue(*args, "--json")
    assert ended.code == code
    assert (ended.told[0]["status"], ended.told[0]["result"]) == (status, {"ok": 1})


def test_waiting_has_an_end(api: FakeApi, jobqueue: CommandLine, clock: InstantClock) -> None:
    outcome = jobqueue("enqueue", "greet", "--wait", "--timeout", "1m")
    assert (outcome.code, outcome.out) == (7, "")
    (job_id,) = api.jobs
    assert outcome.err.splitlines() == [
        f"{job_id} goes on without being waited for.",
        f"jobqueue: Job {job_id} did not finish within 60 seconds.",
    ]
    assert sum(clock.sleeps) == 60.0


def test_ctrl_c_while_waiting_says_which_job_it_was(
    api: FakeApi, jobqueue: CommandLine, clock: InstantClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(clock, "sleep", interrupt)
    outcome = jobqueue("enqueue", "greet", "--wait", "--json")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err.strip() == f"{next(iter(api.jobs))} goes on without being waited for."


def test_each_line_becomes_a_job(api: FakeApi, jobqueue: CommandLine) -> None:
    lines = "\n".join(json.dumps({"n": n, "s": "\u2028"}, ensure_ascii=False) for n in range(250))
    outcome = jobqueue("enqueue", "greet", "--lines", "-", "--queue", "q", stdin=lines + "\n\n")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "250 jobs made.\n")
    assert payloads(api) == [{"n": n, "s": "\u2028"} for n in range(250)]
    assert len(api.calls) == 3
    assert {job["queue"] for job in api.jobs.values()} == {"q"}


def test_lines_with_a_key_are_made_once(api: FakeApi, jobqueue: CommandLine) -> None:
    args = ("enqueue", "greet", "--lines", "--idempotency-key", "import")
    assert jobqueue(*args, stdin="{}\n\n{}").err == "2 jobs made.\n"
    again = jobqueue(*args, "--json", stdin="{}\n\n{}\n{}")
    assert [(line["line"], line["created"]) for line in again.told] == [(1, False), (3, False), (4, True)]
    keys = [job["idempotency_key"] for job in api.jobs.values()]
    assert keys == ["import:1", "import:3", "import:4"]


def test_a_line_that_is_wrong_stops_all_before_the_first_call(api: FakeApi, jobqueue: CommandLine) -> None:
    outcome = jobqueue("enqueue", "greet", "--lines", stdin='{}\n{"a": 1, "a": 2}')
    assert outcome.code == 2
    assert "line 2 is not acceptable JSON: 'a' is there twice" in outcome.err
    assert api.calls == []


def test_a_refused_line_stops_no_other(api: FakeApi, jobqueue: CommandLine) -> None:
    jobqueue("enqueue", "greet", "--lines", "--idempotency-key", "k", stdin='{"n": 1}\n')
    args = ("enqueue", "greet", "--lines", "--idempotency-key", "k")
    outcome = jobqueue(*args, stdin='{"n": 2}\n{"n": 3}')
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "jobqueue: line 1: about idempotency-key-reused [request req-1]",
        "1 job made, 1 refused.",
    ]
    told = jobqueue(*args, "--json", stdin='{"n": 2}').told
    assert told == [
        {
            "line": 1,
            "error": "about idempotency-key-reused [request req-1]",
            "problem": "idempotency-key-reused",
        }
    ]


def test_lines_that_stop_halfway_say_how_far_they_came(api: FakeApi, jobqueue: CommandLine) -> None:
    lines = "{}\n" * 150
    api.faults += [("batch", "refused")] * 5
    assert jobqueue("enqueue", "greet", "--lines", stdin=lines).err.startswith("Stopped early: 0 jobs made.")


def test_lines_do_not_come_from_the_argument(jobqueue: CommandLine) -> None:
    outcome = jobqueue("enqueue", "greet", "--lines", "{}")
    assert (outcome.code, "@FILE" in outcome.err) == (2, True)
