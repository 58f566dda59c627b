"""How pydantic's errors are told."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from jobqueue.errors import FieldError
from jobqueue.fielderrors import LONGEST_NAME, field_errors

CANARY = "CANARY4711"


class Colour(StrEnum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


def _picky(_: str) -> str:
    raise ValueError("is never right")


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    required: int
    text: Annotated[str, Field(min_length=3, max_length=5, pattern="^[a-z]+$")] = "abc"
    number: Annotated[int, Field(gt=0, ge=1, lt=10, le=9)] = 1
    items: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    colour: Annotated[Colour, Field(strict=False)] = Colour.RED
    word: Literal["a", "b"] = "a"
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    picky: Annotated[str, AfterValidator(_picky)] = ""


def refused(**members: Any) -> tuple[FieldError, ...]:
    with pytest.raises(ValidationError) as invalid:
        Model.model_validate({"required": 1, **members})
    return field_errors(invalid.value.errors(include_url=False), ["payload"])


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("required", CANARY, "wrong_type"),
        ("required", None, "wrong_type"),
        ("required", True, "wrong_type"),
        ("required", 1.0, "wrong_type"),
        ("text", "ab", "too_short"),
        ("text", CANARY, "too_long"),
        ("text", "ABC", "malformed"),
        ("number", 0, "out_of_range"),
        ("number", 4711, "out_of_range"),
        ("items", [], "too_short"),
        ("items", [1, 2, 3], "too_long"),
        ("items", {}, "wrong_type"),
        ("colour", CANARY, "unknown_value"),
        ("word", CANARY, "unknown_value"),
        ("pet", {"kind": CANARY}, "unknown_value"),
        ("pet", {}, "missing"),
        ("picky", CANARY, "invalid"),
        (CANARY.lower(), 1, "unknown_field"),
    ],
)
def test_codes(member: str, value: Any, code: str) -> None:
    (error,) = refused(**{member: value})
    assert (error.field, error.code) == (f"payload.{member}", code)
    assert error.message.startswith(f"payload.{member}: ")
    assert CANARY not in error.message


def test_a_pattern_is_for_machines() -> None:
    (error,) = refused(text="ABC")
    assert error.message == "payload.text: does not have the form that is required"


def test_a_place_in_a_list() -> None:
    (error,) = refused(items=[1, "2"])
    assert error.field == "payload.items.1"


def test_a_missing_field() -> None:
    with pytest.raises(ValidationError) as invalid:
        Model.model_validate({})
    assert field_errors(invalid.value.errors()) == (
        FieldError("required", "missing", "required: is required"),
    )


def test_an_error_of_the_whole() -> None:
    with pytest.raises(ValidationError) as invalid:
        Model.model_validate(7)
    assert [(error.field, error.code) for error in field_errors(invalid.value.errors())] == [
        ("body", "wrong_type")
    ]


def test_a_long_name_is_cut() -> None:
    (error,) = refused(**{"x" * 10_000: 1})
    assert len(error.field) <= LONGEST_NAME + 1
    assert len(error.message) < 300
