"""The secret of webhooks, and the command that prints a receiver's key."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from jobqueue.webhooks.__main__ import main
from jobqueue.webhooks.secret import MasterSecret
from jobqueue.webhooks.signing import host_key, shown_key

VALUE = "Xr2" * 20


@pytest.fixture
def arn() -> Iterator[str]:
    with mock_aws():
        yield boto3.client("secretsmanager").create_secret(Name="webhooks", SecretString=VALUE)["ARN"]


def test_the_secret_is_read_once(arn: str) -> None:
    client = boto3.client("secretsmanager")
    asked: list[str] = []
    client.meta.events.register("before-call.secrets-manager.GetSecretValue", lambda **_: asked.append("x"))
    secret = MasterSecret(arn, client)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: secret.read(), range(8))) == {VALUE.encode()}
    assert len(asked) == 1


def test_a_secret_that_cannot_be_read_is_asked_for_again(arn: str) -> None:
    client = boto3.client("secretsmanager")
    secret = MasterSecret("later", client)
    with pytest.raises(ClientError):
        secret.read()
    client.create_secret(Name="later", SecretString="here")
    assert secret.read() == b"here"


@pytest.mark.parametrize("host", ["hooks.example.com", "HOOKS.example.com."])
def test_the_command_prints_the_key_that_signs(
    arn: str, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([host, "--secret", arn]) == 0
    assert capsys.readouterr().out == shown_key(host_key(VALUE.encode(), "hooks.example.com")) + "\n"


def test_the_command_takes_the_secret_from_the_environment(
    arn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET_ARN", arn)
    assert main(["hooks.example.com"]) == 0
    assert capsys.readouterr().out.startswith("whsec_")


@pytest.mark.parametrize("secret", ["", "no-such-secret"])
def test_the_command_says_what_is_missing(arn: str, secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hooks.example.com", "--secret", secret]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")


@pytest.mark.parametrize("host", ["https://hooks.example.com", "hooks.example.com/path", ""])
def test_the_command_wants_a_host_and_no_url(host: str) -> None:
    with pytest.raises(SystemExit):
        main([host])
