"""What a deployer does once after a deployment: API keys, and a sender that SES may use."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local.aws import Aws
from local.environment import without_aws
from local.failure import StackFailed
from local.paths import LIBRARY, ROOT
from local.stack import Stack

ROLES = ("producer", "worker", "admin")
SENDER_PARAMETER = "SenderAddress"
SEND_AS_ANYBODY = {"Effect": "Allow", "Action": "ses:SendEmail", "Resource": "*"}


def create_keys(endpoint: str, table: str, temporary: Path) -> dict[str, str]:
    """Make one API key per role in `table`, each granted all queues, and return them by role."""
    environment = without_aws(temporary) | {
        "AWS_ENDPOINT_URL": endpoint,
        "API_KEYS_TABLE": table,
        "PYTHONPATH": str(LIBRARY),
    }

    def create(role: str) -> str:
        command = [sys.executable, "-m", "jobqueue.keys", "create", role, "--role", role, "--queue", "*"]
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != 0:
            raise StackFailed(f"making the key of the {role} failed (exit {done.returncode})", done.stderr)
        return done.stdout.strip()

    with ThreadPoolExecutor(len(ROLES)) as pool:
        return dict(zip(ROLES, pool.map(create, ROLES), strict=True))


def verify_sender(aws: Aws, stack: Stack) -> None:
    """Let SES send from the stack's sender, if it has one."""
    if sender := stack.parameters.get(SENDER_PARAMETER):
        aws.ses().create_email_identity(EmailIdentity=sender)
        # the template grants the sender's identity; the emulator does not see which one a message is from
        aws.iam().put_role_policy(
            RoleName=stack.resources["WorkJobsRole"],
            PolicyName="the_emulator_sees_no_identity",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [SEND_AS_ANYBODY]}),
        )
