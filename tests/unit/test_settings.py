"""A function with an unusable environment does not start; one with a usable environment reads it once."""

from __future__ import annotations

import pytest

from jobqueue.errors import InvalidSettings
from jobqueue.settings import CallerLimit, Settings

ENVIRONMENT = {
    "JOBS_TABLE": "jobs",
    "QUEUES_TABLE": "queues",
    "RETENTION_DAYS": "7",
    "BACKOFF_BASE_SECONDS": "2.5",
    "BACKOFF_CAP_SECONDS": "900",
}


def test_the_environment_is_read() -> None:
    assert Settings.from_env(ENVIRONMENT) == Settings(
        jobs_table="jobs",
        queues_table="queues",
        retention_days=7,
        backoff_base_seconds=2.5,
        backoff_cap_seconds=900,
    )


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    assert Settings.from_env() == Settings.from_env(ENVIRONMENT)


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_nothing_has_a_silent_default(name: str) -> None:
    missing = {other: value for other, value in ENVIRONMENT.items() if other != name}
    with pytest.raises(InvalidSettings, match=f"{name} is not set"):
        Settings.from_env(missing)
    with pytest.raises(InvalidSettings, match=f"{name} is not set"):
        Settings.from_env(ENVIRONMENT | {name: ""})


@pytest.mark.parametrize("name", [name for name in ENVIRONMENT if not name.endswith("_TABLE")])
@pytest.mark.parametrize("value", ["a week", "7 days", "0x7", "7,5"])
def test_what_is_no_number_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=f"{name} is not a number"):
        Settings.from_env(ENVIRONMENT | {name: value})


@pytest.mark.parametrize(
    "name, value",
    [
        ("RETENTION_DAYS", "0"),
        ("RETENTION_DAYS", "3651"),
        ("RETENTION_DAYS", "nan"),
        ("RETENTION_DAYS", "inf"),
        ("BACKOFF_BASE_SECONDS", "-1"),
        ("BACKOFF_BASE_SECONDS", "86401"),
        ("BACKOFF_BASE_SECONDS", "nan"),
        ("BACKOFF_CAP_SECONDS", "-0.1"),
        ("BACKOFF_CAP_SECONDS", "604801"),
        ("BACKOFF_CAP_SECONDS", "1e999"),
    ],
)
def test_what_is_out_of_range_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=f"{name} must be "):
        Settings.from_env(ENVIRONMENT | {name: value})


def test_part_of_a_day_is_not_cut_off() -> None:
    with pytest.raises(InvalidSettings, match="RETENTION_DAYS is not a whole number"):
        Settings.from_env(ENVIRONMENT | {"RETENTION_DAYS": "1.5"})


@pytest.mark.parametrize("days", ["1", "3650"])
def test_retention_reaches_to_its_limits(days: str) -> None:
    assert Settings.from_env(ENVIRONMENT | {"RETENTION_DAYS": days}).retention_days == int(days)


@pytest.mark.parametrize(("value", "meant"), [("true", True), ("false", False)])
def test_emails_are_taken_out_of_errors_where_that_is_set(value: str, meant: bool) -> None:
    assert Settings.from_env(ENVIRONMENT | {"REDACT_EMAILS": value}).redact_emails is meant


@pytest.mark.parametrize("value", ["", "yes", "True", "1", " true"])
def test_a_flag_is_true_or_false(value: str) -> None:
    with pytest.raises(InvalidSettings, match="REDACT_EMAILS must be true or false"):
        Settings.from_env(ENVIRONMENT | {"REDACT_EMAILS": value})


LIMIT = {"CALLER_THROTTLE_RATE": "2.5", "CALLERS_TABLE": "callers"}


def test_the_limit_of_callers_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CallerLimit.from_env(LIMIT) == CallerLimit(table="callers", per_second=2.5)
    for name, value in LIMIT.items():
        monkeypatch.setenv(name, value)
    assert CallerLimit.from_env() == CallerLimit.from_env(LIMIT)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"CALLER_THROTTLE_RATE": "", "CALLERS_TABLE": ""},
        {"CALLER_THROTTLE_RATE": "0", "CALLERS_TABLE": ""},
        {"CALLER_THROTTLE_RATE": "0.0", "CALLERS_TABLE": "callers"},
    ],
)
def test_callers_are_not_limited_unless_that_is_set(environment: dict[str, str]) -> None:
    assert CallerLimit.from_env(environment) is None


@pytest.mark.parametrize("value", ["ten", "10/s", "1,5", " "])
def test_a_limit_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(InvalidSettings, match="CALLER_THROTTLE_RATE is not a number"):
        CallerLimit.from_env(LIMIT | {"CALLER_THROTTLE_RATE": value})


@pytest.mark.parametrize("value", ["-1", "-0.1", "1000.5", "1001", "nan", "inf", "1e999"])
def test_a_limit_that_is_out_of_range_is_refused(value: str) -> None:
    with pytest.raises(InvalidSettings, match="CALLER_THROTTLE_RATE must be 0 to 1000"):
        CallerLimit.from_env(LIMIT | {"CALLER_THROTTLE_RATE": value})


@pytest.mark.parametrize("environment", [{}, {"CALLERS_TABLE": ""}])
def test_a_limit_without_a_table_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings, match="CALLERS_TABLE is not set"):
        CallerLimit.from_env({"CALLER_THROTTLE_RATE": "1", **environment})
