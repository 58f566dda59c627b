"""Functions that are started by events other than HTTP, as Lambda starts them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.template import ROOT


@dataclass(frozen=True)
class Context:
    """What Lambda tells of an invocation.

    Attributes
    ----------
    seconds : float
        How much of the function's time is left, for as long as it runs.
    """

    seconds: float = 300.0
    aws_request_id: str = "8f5a1c1e-5c0f-4f6e-9b43-6f3c4f1d2a77"
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:jobqueue-WorkJobs"

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


def event(function: str) -> dict[str, Any]:
    """Return the event of a function in events/."""
    found: dict[str, Any] = json.loads((ROOT / "events" / f"{function}.json").read_text(encoding="utf-8"))
    return found
