"""JSON as the API takes and gives it."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.api import strict_json
from jobqueue.api.errors import InvalidJson
from jobqueue.errors import InvalidRequest

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(text, values))
def test_what_is_written_is_read_as_it_was(value: dict[str, Any]) -> None:
    assert strict_json.loads(strict_json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), st.text(), max_size=5))
def test_whatever_is_written_can_be_sent(value: dict[str, str]) -> None:
    written = strict_json.dumps(value)
    written.encode()
    assert json.loads(written) == value


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_an_object_or_refused(anything: str) -> None:
    with contextlib.suppress(InvalidJson, InvalidRequest):
        assert isinstance(strict_json.loads(anything), dict)


@pytest.mark.parametrize(
    "number",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e309",
        "-1e309",
        "1e-400",
        "-0.001e-999",
        "1" * 4301,
        "-" + "1" * 4300,
    ],
)
@pytest.mark.parametrize("around", ['{{"a":{}}}', '{{"a":[1,{{"b":{}}}]}}'])
def test_numbers_that_are_none(number: str, around: str) -> None:
    with pytest.raises(InvalidJson):
        strict_json.loads(around.format(number))


@pytest.mark.parametrize(
    "number",
    [
        "9007199254740993.0",
        "123456789.123456789",
        "12345678901234567890.5",
        "0.10000000000000000001",
        "-1.00000000000000000000000001E5",
        "4.5e-324",
        "0.1" + "0" * 800 + "1",
    ],
)
def test_digits_that_would_be_lost(number: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        strict_json.loads(f'{{"a":[{number}]}}')
    assert [error.code for error in refused.value.errors] == ["too_precise"]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(15, 20))
def test_as_other_languages_write_numbers(number: float, digits: int) -> None:
    for written in (repr(number), f"{number:.17g}", f"{number:.16e}", f"{number:.{digits}e}"):
        if float(written) == number:
            assert strict_json.loads(f'{{"a":{written}}}') == {"a": number}


@pytest.mark.parametrize(
    "number",
    ["1e308", "-0.0", "5e-324", "0e-999", "-0.00e9", "1" * 4300, "0.1", "30.400", "0.1" + "0" * 800],
)
def test_numbers_that_are_fine(number: str) -> None:
    assert strict_json.loads(f'{{"a":{number}}}') == {"a": json.loads(number)}


@pytest.mark.parametrize("twice", ['{"a":1,"a":1}', '{"b":{"a":1,"a":2}}', '{"b":[{"a":1,"\\u0061":2}]}'])
def test_a_member_may_be_there_once(twice: str) -> None:
    with pytest.raises(InvalidJson):
        strict_json.loads(twice)


@pytest.mark.parametrize("other", ["null", "[]", '"a"', "1", "true", "", " ", "{", "{} {}", "\ufeff{}"])
def test_only_objects(other: str) -> None:
    with pytest.raises(InvalidJson):
        strict_json.loads(other)


def test_depth() -> None:
    def nested(depth: int) -> str:
        return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    strict_json.loads(nested(100))
    for depth in (101, 900, 100_000):
        with pytest.raises(InvalidRequest) as refused:
            strict_json.loads(nested(depth))
        assert [error.code for error in refused.value.errors] == ["too_deep"]


def test_many_brackets_are_not_depth() -> None:
    value: dict[str, Any] = {"a": [[] for _ in range(1000)]}
    assert strict_json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_nothing_that_is_no_json_is_written(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.dumps({"a": number})
