"""What AWS charges, in one place, what is assumed, and what a million jobs cost by it.

US East (N. Virginia), on demand, without the free tier, from the public price lists:
https://aws.amazon.com/dynamodb/pricing/on-demand/, https://aws.amazon.com/lambda/pricing/,
https://aws.amazon.com/api-gateway/pricing/, https://aws.amazon.com/eventbridge/pricing/,
https://aws.amazon.com/cloudwatch/pricing/, https://aws.amazon.com/xray/pricing/,
https://aws.amazon.com/secrets-manager/pricing/.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench.meter import Bill

WRITE_UNITS = 0.625
"""Dollars for a million write request units."""
READ_UNITS = 0.125
"""Dollars for a million read request units."""
HTTP_CALLS = 1.00
"""Dollars for a million calls of an HTTP API, up to 512 KB each."""
LAMBDA_CALLS = 0.20
"""Dollars for a million invocations."""
LAMBDA_GB_SECONDS = 13.3334
"""Dollars for a million gigabyte-seconds on arm64."""
EVENTS = 1.00
"""Dollars for a million events on a bus of one's own, up to 64 KB each."""
LOG_GB = 0.50
"""Dollars for a gigabyte of log that is taken in."""
TRACES = 5.00
"""Dollars for a million traces of X-Ray."""
ALARM = 0.10
"""Dollars for an alarm, a month."""
DASHBOARD = 3.00
"""Dollars for a dashboard, a month."""
SECRET = 0.40
"""Dollars for a secret, a month."""
METRIC = 0.30
"""Dollars for a metric, for a month of hours in which it has a value."""

MEMORY_GB = 0.5
"""The memory of a function, as the template sets it, in GB."""
OWN_SECONDS = 0.010
"""Assumed of each warm invocation: what our code takes of it, on the third of a processor that it has."""
CALL_SECONDS = 0.005
"""Assumed of each call of DynamoDB, one after another, though batches make theirs side by side."""
PLATFORM_LOG_BYTES = 650
"""Assumed of each invocation: what Lambda itself logs of it, its start and its report, as JSON."""
ACCESS_LOG_BYTES = 450
"""Assumed of each request: the line of the API's access log."""

EXCLUDED = (
    "X-Ray, at $0.25 (one in twenty) to $5 (all, where they come slower than one a second) for a million"
    " invocations; metrics; the authorizer, once for each key and AuthorizerTtlSeconds; storage and backups;"
    " data transfer; what handlers take; retries and heartbeats"
)
"""What is left out of the dollars, for the title of their table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dollars:
    """What a million jobs cost.

    Attributes
    ----------
    dynamodb, api, functions, following, logs : float
        Dollars by service; `following` is all of what tells events and keeps counts.
    """

    dynamodb: float
    api: float
    functions: float
    following: float
    logs: float

    @property
    def total(self) -> float:
        """All services together, in dollars."""
        return self.dynamodb + self.api + self.functions + self.following + self.logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a job uses on its way.

    Attributes
    ----------
    bill : Bill
        What DynamoDB counted.
    requests : float
        HTTP requests, each one invocation of a function.
    invocations : float
        Other invocations.
    log_bytes : float
        What the functions log, without what is assumed of Lambda and of the API.
    events : float
        Events on the bus.
    """

    bill: Bill
    requests: float = 0.0
    invocations: float = 0.0
    log_bytes: float = 0.0
    events: float = 0.0

    @property
    def dynamodb(self) -> float:
        """Dollars for a million jobs."""
        return self.bill.write_units * WRITE_UNITS + self.bill.read_units * READ_UNITS

    @property
    def functions(self) -> float:
        """Dollars for a million jobs."""
        runs = self.requests + self.invocations
        seconds = runs * OWN_SECONDS + self.bill.calls * CALL_SECONDS
        return runs * LAMBDA_CALLS + seconds * MEMORY_GB * LAMBDA_GB_SECONDS

    @property
    def logs(self) -> float:
        """Dollars for a million jobs."""
        runs = self.requests + self.invocations
        size = self.log_bytes + runs * PLATFORM_LOG_BYTES + self.requests * ACCESS_LOG_BYTES
        return size / 1000 * LOG_GB  # a byte of each of a million jobs is a thousandth of a gigabyte


def million_jobs(life: Usage, following: Usage) -> Dollars:
    """Price a million lives.

    Parameters
    ----------
    life : Usage
        What a job uses between its enqueue and its end.
    following : Usage
        What is used to tell of it and to count it.
    """
    return Dollars(
        dynamodb=life.dynamodb,
        api=life.requests * HTTP_CALLS,
        functions=life.functions,
        following=following.dynamodb + following.functions + following.events * EVENTS + following.logs,
        logs=life.logs,
    )
