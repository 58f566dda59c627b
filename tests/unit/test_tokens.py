from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.tokens.bearer import MAX_HEADER_CHARACTERS, bearer_token

KEY = "jq_" + "A1b2-_" * 7 + "x"


def headers(value: Any, name: str = "authorization") -> dict[str, Any]:
    return {"headers": {name: value}}


@pytest.mark.parametrize("name", ["authorization", "Authorization", "AUTHORIZATION", "aUtHoRiZaTiOn"])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_header_and_scheme_in_any_case(name: str, scheme: str) -> None:
    assert bearer_token(headers(f"{scheme} {KEY}", name)) == KEY


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (f"  Bearer   {KEY}  ", KEY),
        ("Bearer a.b.c", "a.b.c"),
        ("Bearer abc==", "abc=="),
        ("Bearer " + "a" * (MAX_HEADER_CHARACTERS - 7), "a" * (MAX_HEADER_CHARACTERS - 7)),
    ],
)
def test_what_is_a_bearer_token(header: str, token: str) -> None:
    assert bearer_token(headers(header)) == token


@pytest.mark.parametrize(
    "header",
    [
        "",
        " ",
        "Bearer",
        "Bearer ",
        KEY,
        f"Bearer{KEY}",
        f"Basic {KEY}",
        f"Bearer Bearer {KEY}",
        f"Bearer {KEY} x",
        f"Bearer {KEY},Bearer {KEY}",
        f"Bearer {KEY}, Bearer {KEY}",
        f"Bearer\t{KEY}",
        f"Bearer {KEY}\n",
        f"\nBearer {KEY}",
        f"Bearer {KEY}\x00",
        f"Bearer \x00{KEY}",
        f'Bearer "{KEY}"',
        "Bearer =",
        "Bearer a=b",
        "Bearer clé",
        "Bearer \N{KELVIN SIGN}ey",
        "Bearer a\u0660",
        "Bearer \ud83d",
        "Bearer \N{GRINNING FACE}",
        "Bearer\N{NO-BREAK SPACE}abc",
        "Bearer " + "a" * MAX_HEADER_CHARACTERS,
        "Bearer " + "=" * 5000,
        " " * 1_000_000,
        None,
        7,
        True,
        b"Bearer abc",
        ["Bearer abc"],
        {"Bearer": "abc"},
    ],
)
def test_what_is_none(header: Any) -> None:
    assert bearer_token(headers(header)) is None
    assert bearer_token({"identitySource": [header]}) is None


def test_two_spellings_of_the_header_must_agree() -> None:
    same = {"headers": {"authorization": f"Bearer {KEY}", "Authorization": f"Bearer {KEY}"}}
    other = {"headers": {"authorization": f"Bearer {KEY}", "Authorization": "Bearer other"}}
    assert bearer_token(same) == KEY
    assert bearer_token(other) is None


def test_without_the_header_what_the_gateway_took_of_it_counts() -> None:
    assert bearer_token({"headers": {}, "identitySource": [f"Bearer {KEY}"]}) == KEY
    assert bearer_token({"headers": None, "identitySource": [f"Bearer {KEY}"]}) == KEY
    assert (
        bearer_token({"headers": {"authorization": "Basic x"}, "identitySource": [f"Bearer {KEY}"]}) is None
    )
    assert bearer_token({"identitySource": [f"Bearer {KEY}", "Bearer other"]}) is None


@pytest.mark.parametrize(
    "event", [{}, {"headers": None}, {"headers": []}, {"headers": "x"}, {"headers": {7: "Bearer abc"}}]
)
@pytest.mark.parametrize("identity", [None, "Bearer abc", [], {}, 7])
def test_events_that_carry_no_credential(event: dict[str, Any], identity: Any) -> None:
    assert bearer_token({**event, "identitySource": identity}) is None


@given(st.text())
def test_whatever_is_sent_is_read_without_an_exception(header: str) -> None:
    assert bearer_token(headers(header)) is None or header.strip(" ").lower().startswith("bearer ")


@given(st.from_regex(r"[A-Za-z0-9._~+/-]{1,80}={0,2}", fullmatch=True))
def test_every_token_of_the_standard_is_taken_whole(token: str) -> None:
    assert bearer_token(headers(f"Bearer {token}")) == token
