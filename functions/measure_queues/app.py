"""Measures the queues, every minute, and counts them anew where it is time to."""

from __future__ import annotations

from functools import cache
from typing import Any

from jobqueue import telemetry
from jobqueue.measuring import ACTION, Measurer, open_measurer
from jobqueue.settings import Settings
from jobtypes import JOB_TYPES


def lambda_handler(_: dict[str, Any], context: Any) -> None:
    """Look at all queues once."""
    telemetry.begin(request_id=context.aws_request_id)
    measurer().run()
    telemetry.decision(ACTION, "ok")


@cache
def measurer() -> Measurer:
    """Return the measurer of the deployment, opened once in each process."""
    return open_measurer(Settings.from_env(), JOB_TYPES)
