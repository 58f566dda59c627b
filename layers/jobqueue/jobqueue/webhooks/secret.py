"""The master secret that webhooks are signed with, from AWS Secrets Manager."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

from jobqueue.settings import text

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

VARIABLE = "WEBHOOK_SECRET_ARN"


class MasterSecret:
    """Reads the secret when it is first needed, and keeps it while the process lives.

    Parameters
    ----------
    secret_id : str
        The ARN or the name of the secret.
    client : Secrets Manager client or None
        None makes one.
    """

    def __init__(self, secret_id: str, client: SecretsManagerClient | None = None) -> None:
        self._secret_id = secret_id
        self._client = client
        self._lock = Lock()
        self._value: bytes | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> MasterSecret:
        """Return the secret that ``WEBHOOK_SECRET_ARN`` names.

        Raises
        ------
        InvalidSettings
            If the variable is not set.
        """
        return cls(text(os.environ if environ is None else environ, VARIABLE))

    def read(self) -> bytes:
        """Return the secret.

        Raises
        ------
        ClientError, BotoCoreError
            If it cannot be read.
        """
        with self._lock:  # handlers run side by side, and one look is enough for them all
            if self._value is None:
                client = self._client or _make_client()
                self._value = client.get_secret_value(SecretId=self._secret_id)["SecretString"].encode()
            return self._value


def _make_client() -> SecretsManagerClient:
    import boto3
    from botocore.config import Config

    client: SecretsManagerClient = boto3.client(
        "secretsmanager",
        config=Config(
            connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3}
        ),
    )
    return client
