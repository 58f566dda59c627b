from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobqueue_client import Client
from jobqueue_client.cli.session import connect
from jobqueue_client.cli.settings import InvalidSettings, Profile, find_profile
from tests.client.cli.conftest import CommandLine

PROFILES = """
[default]
url = "https://default.example.com"
key = "jq_CANARY-default"

[prod]
url = "https://prod.example.com"
key = "jq_CANARY-prod"
"""
BOTH = {"JOBQUEUE_URL": "https://env.example.com", "JOBQUEUE_KEY": "jq_CANARY-env"}


class Home:
    def __init__(self, path: Path) -> None:
        self.file = path / ".config" / "jobqueue" / "config.toml"
        self.environ = {"HOME": str(path)}

    def write(self, text: str | bytes = PROFILES, mode: int = 0o600) -> None:
        self.file.parent.mkdir(parents=True)
        self.file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.file.chmod(mode)

    def refusal(self, name: str | None = None, **environ: str) -> str:
        with pytest.raises(InvalidSettings) as caught:
            find_profile(name, {**self.environ, **environ})
        assert "CANARY" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_the_environment_is_enough(home: Home) -> None:
    assert find_profile(None, BOTH) == Profile("https://env.example.com", "jq_CANARY-env")


def test_a_profile_is_used_when_the_environment_says_nothing(home: Home) -> None:
    home.write()
    assert find_profile(None, home.environ).url == "https://default.example.com"
    assert find_profile(None, {**home.environ, "JOBQUEUE_PROFILE": "prod"}).key == "jq_CANARY-prod"


def test_a_profile_that_is_asked_for_comes_before_the_environment(home: Home) -> None:
    home.write()
    found = find_profile("prod", {**home.environ, **BOTH})
    assert (found.url, found.key) == ("https://prod.example.com", "jq_CANARY-prod")


def test_the_environment_comes_before_the_profile_that_it_names(home: Home) -> None:
    home.write()
    assert (
        find_profile(None, {**home.environ, **BOTH, "JOBQUEUE_PROFILE": "prod"}).url == BOTH["JOBQUEUE_URL"]
    )


@pytest.mark.parametrize("name", BOTH)
def test_a_key_is_never_sent_to_a_url_from_elsewhere(home: Home, name: str) -> None:
    home.write()
    refusal = home.refusal(**{name: BOTH[name]})
    assert refusal.startswith(f"{name} is set but ")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o677])
def test_a_file_that_others_may_open_is_refused(home: Home, mode: int) -> None:
    home.write(mode=mode)
    assert f"chmod 600 {home.file}" in home.refusal()


def test_a_file_that_only_its_owner_may_read_is_fine(home: Home) -> None:
    home.write(mode=0o400)
    find_profile(None, home.environ)


def test_the_standard_place_can_be_moved_by_the_standard_variable(home: Home, tmp_path: Path) -> None:
    home.write()
    moved = {"XDG_CONFIG_HOME": str(tmp_path / ".config")}
    assert find_profile(None, moved).url == "https://default.example.com"
    assert find_profile(None, {**home.environ, "XDG_CONFIG_HOME": "relative"}).url.startswith(
        "https://default"
    )


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        (PROFILES, "nope", "there is no profile 'nope' in .*, only: default, prod"),
        ("", None, "there is no profile 'default' in .*, only: none"),
        ('default = "https://x"', None, "there is no profile 'default'"),
        ('[default]\nurl = "https://x"', None, "has no key"),
        ('[default]\nkey = "jq_CANARY"', None, "has no url"),
        ('[default]\nurl = ""\nkey = "jq_CANARY"', None, "has no url"),
        ('[default]\nurl = 3\nkey = "jq_CANARY"', None, "has no url"),
        ('[default]\nurl = "https://x"\nkey = "jq_CANARY"\nregion = 1', None, "'region'"),
        ('[default]\nkey = "jq_CANARY', None, "is not TOML"),
        (b'[default]\nkey = "jq_CANARY\xff"', None, "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(
    home: Home, text: str | bytes, name: str | None, why: str
) -> None:
    home.write(text)
    assert re.search(why, home.refusal(name))


def test_no_settings_at_all_say_what_to_do(home: Home) -> None:
    refusal = home.refusal()
    assert refusal == f"set JOBQUEUE_URL and JOBQUEUE_KEY, or write a profile into {home.file}"


def test_a_place_that_cannot_be_read_is_told(home: Home) -> None:
    home.file.mkdir(parents=True)
    assert "cannot be read" in home.refusal()


@pytest.mark.parametrize(
    "profile",
    [
        Profile("http://queue.example.com", "jq_CANARY", "profile 'p'"),
        Profile("https://u:CANARY@example.com", "jq_CANARY", "profile 'p'"),
        Profile("https://queue.example.com", "jq_ CANARY", "profile 'p'"),
    ],
)
def test_a_url_or_a_key_that_cannot_be_one_is_refused_with_its_place(profile: Profile) -> None:
    with pytest.raises(InvalidSettings, match=r"^profile 'p': ") as caught:
        connect(profile)
    assert "CANARY" not in str(caught.value)
    assert "CANARY" not in repr(profile).replace("u:CANARY@", "")


def test_wrong_settings_are_one_line_and_the_code_of_wrong_usage(jobqueue: CommandLine) -> None:
    jobqueue.environ = {"JOBQUEUE_URL": "https://x"}
    outcome = jobqueue("list")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "jobqueue: JOBQUEUE_URL is set but JOBQUEUE_KEY is not.\n"


@pytest.mark.parametrize("args", [("--profile", "prod", "list"), ("list", "--profile", "prod")])
def test_the_option_may_come_before_or_after_the_command(
    jobqueue: CommandLine, home: Home, args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write()
    seen: list[Profile] = []
    inner = jobqueue.connect

    def connect(profile: Profile) -> Client:
        seen.append(profile)
        return inner(profile)

    monkeypatch.setattr(jobqueue, "connect", connect)
    jobqueue.environ = {**home.environ, **BOTH}
    assert jobqueue(*args).code == 0
    assert [profile.url for profile in seen] == ["https://prod.example.com"]


def test_the_option_after_the_command_wins(jobqueue: CommandLine, home: Home) -> None:
    home.write()
    jobqueue.environ = home.environ
    assert jobqueue("--profile", "nope", "list", "--profile", "prod").code == 0
    assert jobqueue("--profile", "prod", "list", "--profile", "nope").code == 2
