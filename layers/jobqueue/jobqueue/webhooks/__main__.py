"""Print the key that a receiver of webhooks checks signatures with: ``python -m jobqueue.webhooks HOST``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from jobqueue.errors import InvalidSettings
from jobqueue.webhooks.secret import VARIABLE, MasterSecret
from jobqueue.webhooks.signing import host_key, normal_host, shown_key


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the key of a host; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m jobqueue.webhooks",
        description="Print the key (whsec_...) with which a receiver checks this deployment's signatures.",
    )
    parser.add_argument(
        "host", type=_host, help="the host name in the receiver's URL, such as hooks.example.com"
    )
    parser.add_argument(
        "--secret",
        default=os.environ.get(VARIABLE, ""),
        help=f"ARN of the deployment's secret, the stack output WebhookSecretArn (default: ${VARIABLE})",
    )
    options = parser.parse_args(arguments)
    try:
        master = MasterSecret.from_env({VARIABLE: options.secret}).read()
    except (InvalidSettings, BotoCoreError, ClientError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(shown_key(host_key(master, options.host)) + "\n")
    return 0


def _host(text: str) -> str:
    if not text or any(character in text for character in "/@?# "):
        raise argparse.ArgumentTypeError("expected a host name, not a URL")
    return normal_host(text)


if __name__ == "__main__":
    sys.exit(main())
