"""What is storable as JSON, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.jsontext import MAX_DEPTH, NotStorable, canonical, has_lone_surrogate, to_text

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
MUCH = 10_000_000


def refusal(value: Any, max_bytes: int = MUCH) -> str:
    """Return the code of the reason why `value` is refused."""
    with pytest.raises(NotStorable) as refused:
        to_text(value, max_bytes=max_bytes)
    return refused.value.code


def nested(levels: int, *, kind: type) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = {"a": value} if kind is dict else kind([value])
    return value


@given(JSON)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    assert json.loads(to_text(value, max_bytes=MUCH)) == value


@given(JSON)
def test_the_limit_counts_bytes_of_utf8(value: Any) -> None:
    size = len(to_text(value, max_bytes=MUCH).encode())
    assert to_text(value, max_bytes=size)
    assert refusal(value, size - 1) == "too_long"


def test_text_is_compact_and_not_escaped() -> None:
    assert to_text({"a": [1, "ä"]}, max_bytes=20) == '{"a":[1,"ä"]}'


def test_numbers_are_kept_as_they_are() -> None:
    value = {"a": 30.4, "b": 0.1, "c": 10**39, "d": int("1" * 39)}
    text = '{"a":30.4,"b":0.1,"c":1' + "0" * 39 + ',"d":' + "1" * 39 + "}"
    assert to_text(value, max_bytes=200) == text


@pytest.mark.parametrize("kind", [dict, list, tuple])
def test_nesting_has_a_limit(kind: type) -> None:
    assert to_text(nested(MAX_DEPTH, kind=kind), max_bytes=MUCH)
    assert refusal(nested(MAX_DEPTH + 1, kind=kind)) == "too_deep"


@pytest.mark.parametrize("kind", [dict, list, tuple])
def test_nesting_beyond_any_stack_is_refused_as_well(kind: type) -> None:
    assert refusal(nested(100_000, kind=kind)) == "too_deep"


def test_a_value_inside_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    assert refusal(value) == "too_deep"


def test_siblings_do_not_add_to_the_depth() -> None:
    assert to_text([[] for _ in range(100)], max_bytes=MUCH)


@pytest.mark.parametrize("value", ["\ud83d", "b\ude00", {"\ud83d": 1}, ["a\ud83db"]], ids=ascii)
def test_half_of_a_surrogate_pair_is_refused(value: Any) -> None:
    assert refusal(value) == "invalid_unicode"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {"a": [math.nan]}, {1, 2}, b"a", object])
def test_what_is_not_json_is_refused(value: Any) -> None:
    assert refusal(value) == "not_json"


def test_a_number_too_long_to_be_read_again_is_refused() -> None:
    assert refusal(10**5000) == "not_json"


@pytest.mark.parametrize("text", ["\ud800", "b\udfff", "a\udc00b"], ids=ascii)
def test_a_lone_surrogate_is_found(text: str) -> None:
    assert has_lone_surrogate(text)


@given(TEXT)
def test_whole_characters_are_no_lone_surrogates(text: str) -> None:
    assert not has_lone_surrogate(text)


@given(JSON)
def test_equal_json_has_one_canonical_text(value: Any) -> None:
    shuffled = _members_reversed(value)
    assert canonical(shuffled) == canonical(value)
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize("one, other", [([1, 2], [2, 1]), (1, "1"), (None, 0), ({"a": None}, {}), (1, True)])
def test_other_json_has_another_canonical_text(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)


def _members_reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _members_reversed(value[name]) for name in reversed(value)}
    return [_members_reversed(one) for one in value] if isinstance(value, list) else value
