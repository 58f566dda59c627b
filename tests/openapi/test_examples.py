"""The examples of the description are what the API answers today."""

from __future__ import annotations

from typing import Any

import pytest

from openapi.examples import Example, read_examples
from tests.support.contract import errors, operations
from tests.support.examples import played

EXAMPLES = read_examples()


@pytest.fixture(scope="module")
def today() -> dict[str, Example]:
    return {example.name: example for example in played(EXAMPLES)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_is_answered_as_it_says(example: Example, today: dict[str, Example]) -> None:
    assert today[example.name] == example, "if that is meant, run `make openapi`"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_what_an_example_sends_fits_the_description_if_it_is_taken(example: Example) -> None:
    operation = operations()[example.function]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    wrong: list[Any] = []
    if example.body is not None and body is not None:
        wrong = errors(body["schema"], example.body)
    if example.status < 300 and example.function != "enqueue_jobs":
        assert wrong == []
    if example.name == "fields-that-are-wrong":
        assert wrong != []


def test_no_two_examples_are_called_the_same() -> None:
    assert len({example.name for example in EXAMPLES}) == len(EXAMPLES)
