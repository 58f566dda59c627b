"""Under a backlog the worker function starts more of itself.

The schedule starts worker 1. A worker that finds more jobs than it can start at once starts the workers 2n
and 2n + 1, if there may be so many: a hundred stand after seven steps, which is well below the sixteen after
which Lambda takes a function that calls itself for a mistake.

Nothing counts the workers. Each takes jobs only until the next minute's worker 1 begins a fleet of its own,
so no more than MaxWorkers of them take jobs at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from jobqueue import telemetry
from jobqueue.job import format_timestamp
from jobqueue.worker.attempt import ACTION
from jobqueue.worker.wakes import FleetWake

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

SCHEDULE = timedelta(minutes=1)


class Fleet:
    """Starts workers.

    Parameters
    ----------
    function : str
        The name or ARN of the worker function.
    most : int
        How many workers there may be.
    make_client : callable
        Makes the Lambda client, when it is needed.
    """

    def __init__(self, function: str, most: int, make_client: Callable[[], LambdaClient]) -> None:
        self._function = function
        self._most = most
        self._make_client = make_client

    def start_next(self, wake: FleetWake, until: datetime) -> None:
        """Start the workers that follow the one that `wake` started, each to take jobs until `until`."""
        numbers = tuple(followers(wake.number, self._most))
        if not numbers:
            return
        client = self._make_client()
        for number in numbers:
            payload = {"worker": number, "until": format_timestamp(until)}
            try:
                client.invoke(
                    FunctionName=self._function, InvocationType="Event", Payload=json.dumps(payload).encode()
                )
                telemetry.decision(ACTION, "worker-started", worker=number)
            except (BotoCoreError, ClientError) as error:
                # the jobs that wait are safe, and this worker goes on with them
                telemetry.decision(
                    ACTION, "worker-not-started", worker=number, error_class=type(error).__name__
                )


def followers(number: int, most: int) -> Iterator[int]:
    """Yield the numbers of the workers that worker `number` starts, of `most` in all."""
    return (follower for follower in (2 * number, 2 * number + 1) if follower <= most)
