"""How a call that was already carried out is recognised."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jobqueue.errors import ReplayMismatch
from jobqueue.marks import is_repeated, mark

BODY = {"a": 1, "b": [1, 2]}
KEPT = mark("complete", "token-1", BODY)


def test_a_mark_names_the_operation_and_the_token() -> None:
    assert re.fullmatch(r"complete:token-1:[0-9a-f]{12}", KEPT)


def test_the_same_call_is_recognised_whatever_the_order_of_its_members() -> None:
    repeated = mark("complete", "token-1", {"b": [1, 2], "a": 1})
    assert is_repeated(repeated, [mark("release", "token-0"), KEPT, mark("cancel", "token-2")])


@pytest.mark.parametrize("body", [None, {"a": 1}, {"a": 1, "b": [2, 1]}, "text"])
def test_the_same_call_with_another_body_is_refused(body: Any) -> None:
    with pytest.raises(ReplayMismatch):
        is_repeated(mark("complete", "token-1", body), [KEPT])


def test_another_operation_or_token_is_another_call() -> None:
    assert not is_repeated(mark("fail", "token-1", BODY), [KEPT])
    assert not is_repeated(mark("complete", "token-2", BODY), [KEPT])
    assert not is_repeated(mark("complete", "token", BODY), [KEPT])
    assert not is_repeated(KEPT, [])


def test_a_token_with_the_separator_in_it_stays_whole() -> None:
    # a caller chooses what it sends as its token
    kept = mark("complete", "a:b", BODY)
    assert is_repeated(mark("complete", "a:b", BODY), [kept])
    assert not is_repeated(mark("complete", "a", BODY), [kept])
