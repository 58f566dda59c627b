"""What a line of the log tells, and what it never does."""

from __future__ import annotations

from jobqueue import telemetry
from tests.support.log import captured_log, log_lines
from tests.support.samples import a_job

JOB = a_job(type="report", queue="reports", retry_count=2)


def test_a_decision_about_a_job() -> None:
    telemetry.begin(request_id="R1", principal=None)
    with log_lines() as lines:
        telemetry.decision("claim_job", "running", JOB, status=200, items=None)
    (line,) = lines
    assert line["level"] == "INFO"
    told = {
        name: line[name]
        for name in ("request_id", "action", "outcome", "status", "job_id", "job_type", "queue")
    }
    assert told == {
        "request_id": "R1",
        "action": "claim_job",
        "outcome": "running",
        "status": 200,
        "job_id": JOB.id,
        "job_type": JOB.type,
        "queue": JOB.queue,
    }
    assert line["attempt"] == JOB.retry_count + 1
    assert line.keys() & {"principal", "items", "payload", "lease_token"} == set()


def test_who_it_was_is_in_the_lines_that_follow() -> None:
    telemetry.begin(request_id="R1")
    telemetry.identify("key:shop")
    with log_lines() as lines:
        telemetry.decision("get_job", "ok")
        telemetry.begin(request_id="R2")
        telemetry.decision("get_job", "ok")
    assert [line.get("principal") for line in lines] == ["key:shop", None]
    assert [line["request_id"] for line in lines] == ["R1", "R2"]


def test_an_unexpected_error_is_told_without_its_words() -> None:
    def look_up() -> None:
        raise KeyError("CANARY4711")

    def fail() -> None:
        try:
            look_up()
        except KeyError as error:
            raise ValueError("CANARY4711") from error

    with captured_log() as log, log_lines() as lines:
        try:
            fail()
        except ValueError as error:
            telemetry.crash("get_job", error)
    (line,) = lines
    assert line["level"] == "ERROR"
    assert (line["error_class"], line["outcome"]) == ("ValueError", "internal-error")
    assert set(line["error_causes"]) == {"KeyError"}
    assert any(frame.endswith(" fail") for frame in line["error_frames"])
    assert "CANARY4711" not in log() + str(lines)
