"""What a deployer does once after a deployment: API keys, and a sender that SES may use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from local.aws import Aws
from local.environment import ACCESS_KEY, REGION, SECRET_KEY
from local.stack import Stack

ROLES = ("producer", "worker", "admin")
SENDER_PARAMETER = "EmailSender"


def create_keys(aws: Aws, stack: Stack) -> dict[str, str]:
    """Make one API key per role, each granted all queues, and return them by role."""
    from jobqueue.keys import create_key

    needed = {
        "AWS_ENDPOINT_URL": aws.endpoint,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_DEFAULT_REGION": REGION,
        "API_KEYS_TABLE": stack.outputs["ApiKeysTableName"],
    }
    with environment(needed):
        return {role: create_key(role, role=role, queues=("*",)) for role in ROLES}


def verify_sender(aws: Aws, stack: Stack) -> None:
    """Let SES send from the stack's sender, if the template has one."""
    if sender := stack.parameters.get(SENDER_PARAMETER):
        aws.ses().create_email_identity(EmailIdentity=sender)


@contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
