"""Requests as callers send them, with what was answered: part of the document, and executed as tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")
PROBLEM = "urn:jobqueue:problem:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One request and its answer.

    Attributes
    ----------
    name : str
        What the example is called; no other is called so.
    summary : str
        What happens in it.
    function : str
        The function that is asked.
    caller : str
        The role of who asks.
    after : list of str
        The examples that come before it, in this order, in a deployment that was empty.
    trouble : str or None
        What is wrong with the deployment meanwhile.
    path, query, headers : dict
        Parameters of the request.
    body : JSON object or None
        The body of the request.
    status, answer_headers, answer
        What was answered.
    """

    name: str
    summary: str
    function: str
    caller: str
    after: list[str]
    trouble: str | None
    path: dict[str, str]
    query: dict[str, str]
    headers: dict[str, str]
    body: dict[str, Any] | None
    status: int
    answer_headers: dict[str, str]
    answer: Any

    @property
    def problem(self) -> str:
        """The name of the problem that is answered, or the empty string."""
        kind = self.answer.get("type", "") if isinstance(self.answer, dict) else ""
        return str(kind).removeprefix(PROBLEM) if str(kind).startswith(PROBLEM) else ""


def read_examples() -> tuple[Example, ...]:
    """Return the examples, in the order of the file."""
    return tuple(Example(**one) for one in json.loads(FILE.read_text("utf-8")))


def write_examples(examples: Iterable[Example]) -> None:
    """Write the examples anew."""
    text = json.dumps([asdict(one) for one in examples], indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
