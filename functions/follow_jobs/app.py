"""Follows the changes of jobs: tells the event bus, keeps the counts of queues, and measures.

Started by the table's stream.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from jobqueue import telemetry
from jobqueue.announcing import open_event_bus
from jobqueue.following import ACTION, Follower
from jobqueue.queues import open_queues_table
from jobqueue.settings import Settings, text
from jobtypes import JOB_TYPES


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, list[dict[str, str]]]:
    """Do what is to be done with the changes; answer from where on they must come again."""
    telemetry.begin(request_id=context.aws_request_id)
    again_from = follower().follow(event["Records"])
    telemetry.decision(ACTION, "ok" if again_from is None else "again", items=len(event["Records"]))
    return {"batchItemFailures": [] if again_from is None else [{"itemIdentifier": again_from}]}


@cache
def follower() -> Follower:
    """Return the follower of the deployment, opened once in each process."""
    settings = Settings.from_env()
    bus = open_event_bus(text(os.environ, "EVENT_BUS"))
    return Follower(open_queues_table(settings), bus, JOB_TYPES)
