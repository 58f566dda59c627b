"""What AWS charges, in one place, and what a million jobs cost by it.

US East (N. Virginia), on demand, without the free tier, from the public price lists:
https://aws.amazon.com/dynamodb/pricing/on-demand/, https://aws.amazon.com/lambda/pricing/,
https://aws.amazon.com/api-gateway/pricing/.
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
MEMORY_GB = 0.5
"""The memory of a function, as the template sets it, in GB."""
BILLED_SECONDS = 0.03
"""Assumed for one warm invocation: a few calls of DynamoDB at single-digit milliseconds, and our code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dollars:
    """What a million jobs cost.

    Attributes
    ----------
    dynamodb, api, functions : float
        Dollars by service.
    """

    dynamodb: float
    api: float
    functions: float

    @property
    def total(self) -> float:
        """All services together, in dollars."""
        return self.dynamodb + self.api + self.functions


def million_jobs(life: Bill, *, requests: float, invocations: float = 0.0) -> Dollars:
    """Price a million lives.

    Parameters
    ----------
    life : Bill
        What DynamoDB counted for one job.
    requests : float
        HTTP requests for one job, each one invocation of a function.
    invocations : float
        Other invocations for one job.
    """
    runs = requests + invocations
    return Dollars(
        dynamodb=life.write_units * WRITE_UNITS + life.read_units * READ_UNITS,
        api=requests * HTTP_CALLS,
        functions=runs * (LAMBDA_CALLS + BILLED_SECONDS * MEMORY_GB * LAMBDA_GB_SECONDS),
    )
