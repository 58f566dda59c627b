"""Looks through all that a deployed stack tells, for what nobody may read there.

That is the word `CANARY`, which tests put into whatever a caller can write, and each credential that was
shown to the stack or that the stack handed out: API keys, JSON Web Tokens, lease tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from local.aws import Aws
from local.state import State
from tests.support.leaks import CANARY

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sqs import SQSClient

SHORTEST_CREDENTIAL = 20
"""What is shorter is made up by a test, such as ``nonsense``, and may well be a word of a log."""

_RULE = "leak-watch"


class Credentials:
    """Remembers each credential that goes over HTTP, either way."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.known = set(keys)

    def client(self) -> httpx.Client:
        """Return an HTTP client whose requests and answers are listened to."""
        hooks: dict[str, list[Any]] = {"request": [self._on_request], "response": [self._on_response]}
        return httpx.Client(timeout=180, trust_env=False, event_hooks=hooks)

    def add(self, credential: str) -> None:
        """Remember one. Of a JSON Web Token the signature is what makes it one."""
        secret = credential.rpartition(".")[2]
        if len(secret) >= SHORTEST_CREDENTIAL:
            self.known.add(secret)

    def _on_request(self, request: httpx.Request) -> None:
        self.add(request.headers.get("authorization", "").rpartition(" ")[2])

    def _on_response(self, response: httpx.Response) -> None:
        if "lease_token" in response.read().decode(errors="replace"):
            for token in re.findall(r'"lease_token": ?"([^"]+)"', response.text):
                self.add(token)


class Watch:
    """What a stack told, and what of it should not have been.

    Parameters
    ----------
    state : State
        The stack's.
    aws : Aws
        Clients of the emulator.
    credentials : Credentials
        What must not be told, beside the tokens of leases that are still in the table.
    word : str
        What else must not be told, in any letter case.
    """

    def __init__(self, state: State, aws: Aws, credentials: Credentials, word: str = CANARY) -> None:
        self._state = state
        self._aws = aws
        self._credentials = credentials
        self._word = word.lower()
        self.told: Counter[str] = Counter()

    @contextmanager
    def listening(self, name: str = _RULE) -> Iterator[None]:
        """Keep a copy of each event that is put on the stack's bus inside the block."""
        make = self._aws.session.client
        bus: EventBridgeClient = make("events", endpoint_url=self._aws.endpoint)
        sqs: SQSClient = make("sqs", endpoint_url=self._aws.endpoint)
        on_bus = self._state.outputs["EventBusName"]
        url = sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        bus.put_rule(Name=name, EventBusName=on_bus, EventPattern='{"source": ["jobqueue"]}')
        bus.put_targets(Rule=name, EventBusName=on_bus, Targets=[{"Id": "queue", "Arn": arn}])
        self._taking = (sqs, url)
        try:
            yield
        finally:
            bus.remove_targets(Rule=name, EventBusName=on_bus, Ids=["queue"])
            bus.delete_rule(Name=name, EventBusName=on_bus)
            sqs.delete_queue(QueueUrl=url)

    def search(self) -> list[str]:
        """Return each line that tells what it must not. Only inside `listening`."""
        secrets = self._credentials.known | self._lease_tokens()
        found = []
        for kind, where, lines in self._all():
            self.told[kind] += len(lines)
            whole = "\n".join(lines)
            lower = whole.lower()
            if self._word in lower or any(secret in whole for secret in secrets):
                found += [
                    f"{where}: {line}"
                    for line in lines
                    if self._word in line.lower() or any(secret in line for secret in secrets)
                ]
        self.told["credentials"] += len(secrets)
        return found

    def _all(self) -> Iterator[tuple[str, str, list[str]]]:
        yield "events on the bus", "bus", self._taken()
        logs = self._aws.logs()
        for page in logs.get_paginator("describe_log_groups").paginate():
            for group in page["logGroups"]:
                yield "lines of deployed logs", group["logGroupName"], self._lines(group["logGroupName"])

    def _lines(self, group: str) -> list[str]:
        pages = self._aws.logs().get_paginator("filter_log_events").paginate(logGroupName=group)
        return [line for page in pages for event in page["events"] for line in event["message"].splitlines()]

    def _taken(self) -> list[str]:
        sqs, url = self._taking
        taken = []
        while got := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            taken += [message["Body"] for message in got]
            sqs.delete_message_batch(
                QueueUrl=url,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
                    for number, message in enumerate(got)
                ],
            )
        return taken

    def _lease_tokens(self) -> set[str]:
        """Return those that other processes were handed, too, as far as they are still stored."""
        pages = (
            self._aws.dynamodb()
            .get_paginator("scan")
            .paginate(TableName=self._state.outputs["JobsTableName"], ProjectionExpression="lease_token")
        )
        found = {item["lease_token"]["S"] for page in pages for item in page["Items"] if item}
        return {token for token in found if len(token) >= SHORTEST_CREDENTIAL}
