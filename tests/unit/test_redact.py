"""What is taken out of an error, what stays, and that neither takes long or breaks anything."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.keys.apikey import new_key
from jobqueue.redact import clean_error, redact
from tests.support.template import ROOT

CORPORA = ROOT / "tests" / "corpora"
CORPUS: list[dict[str, Any]] = json.loads((CORPORA / "error_messages.json").read_text(encoding="utf-8"))
LEAKY = [case for case in CORPUS if case["kind"] != "harmless"]
HARMLESS = [case["message"] for case in CORPUS if case["kind"] == "harmless"]

# Pieces that begin or end something in one of the patterns: long runs of them are the worst case.
PIECES: list[str] = json.loads((CORPORA / "redaction_pieces.json").read_text(encoding="utf-8"))
TEXTS = st.one_of(
    st.text(),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map("".join),
    st.lists(st.sampled_from([case["message"] for case in CORPUS]), max_size=3).map(" ".join),
    st.tuples(st.sampled_from(CORPUS), st.integers(0, 80), st.integers(0, 200)).map(
        lambda drawn: drawn[0]["message"][drawn[1] : drawn[2]]
    ),
)


def test_the_corpus_is_worth_its_name() -> None:
    assert len(LEAKY) >= 60
    assert len(HARMLESS) >= 30
    assert len({case["message"] for case in CORPUS}) == len(CORPUS)
    for case in LEAKY:
        assert case["gone"]
        assert all(part in case["message"] for part in case["gone"] + case["kept"]), case


def test_the_page_tells_what_was_measured() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert f"measured on {len(CORPUS)} messages, {len(HARMLESS)} of them harmless" in page


@pytest.mark.parametrize("case", LEAKY, ids=lambda case: case["message"][:60])
def test_what_must_vanish_vanishes_and_the_rest_stays(case: dict[str, Any]) -> None:
    shown = redact(case["message"], emails=case.get("emails", False))
    assert [part for part in case["gone"] if part in shown] == []
    assert [part for part in case["kept"] if part not in shown] == []


@pytest.mark.parametrize("message", HARMLESS)
def test_harmless_messages_stay_as_they_are(message: str) -> None:
    assert redact(message) == message
    assert clean_error(message) == message


@pytest.mark.parametrize("case", LEAKY, ids=lambda case: case["message"][:60])
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "  {}\n",
        "RuntimeError('{}')",
        '{{"error": "{}", "n": 1}}',
        "job failed: {}; will be retried",
        "[ERROR]\t{}",
        "é😀 {} \N{CJK UNIFIED IDEOGRAPH-65E5}",
    ],
)
def test_it_vanishes_inside_other_texts_too(case: dict[str, Any], around: str) -> None:
    shown = clean_error(around.format(case["message"]), emails=True)
    assert [part for part in case["gone"] if part in shown] == []


def test_our_own_keys_never_stay() -> None:
    for _ in range(50):
        key = new_key()
        assert key[3:] not in redact(f"got 403 with {key} from the queue")
        assert key[3:] not in redact(f"key:{key}")


@given(st.binary(min_size=32, max_size=48))
def test_long_random_hexadecimal_never_stays(secret: bytes) -> None:
    assert secret.hex() not in redact(f"secret bytes {secret.hex()} leaked")


@given(
    secret=st.from_regex(
        r"[A-Za-z0-9!#$%*+/=?^_.~-]{0,12}[0-9][A-Za-z0-9!#$%*+/=?^_.~-]{6,12}", fullmatch=True
    ),
    context=st.sampled_from(
        [
            "password={}",
            "PASSWORD = {}",
            "db_password: {}",
            "'password': '{}'",
            '{{"apiKey": "{}"}}',
            'token="{}"',
            "x-api-key: {}",
            "--secret {}",
            "client_secret={}&a=b",
            "amqp://u:{}@h/v",
            "Authorization: Bearer {}",
            "Authorization: Token {}",
            "<secret>{}</secret>",
            "password is {}",
        ]
    ),
)
def test_any_password_vanishes_where_it_is_named(secret: str, context: str) -> None:
    assert secret not in redact(context.format(secret))


@given(TEXTS, st.booleans())
def test_the_second_time_changes_nothing(text: str, emails: bool) -> None:
    once = redact(text, emails=emails)
    assert redact(once, emails=emails) == once


@given(TEXTS, st.integers(3, 1100))
def test_an_error_is_always_valid_visible_and_short(text: str, limit: int) -> None:
    cleaned = clean_error(text, limit)
    assert len(cleaned.encode()) <= limit
    assert cleaned == cleaned.strip()
    assert not any(character < " " and character not in "\n\t" for character in cleaned)


def test_lone_surrogates_become_replacement_characters() -> None:
    assert clean_error("a\ud83db\ude00c") == "a\ufffdb\ufffdc"
    assert clean_error("pair \ud83d\ude00") == "pair 😀"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("a\x00b\x07c\x7fd\x9fe", "abcde"),
        ("\x1b[1;31mred\x1b[0m and \x1b]0;title\x07plain \x1bc.", "red and plain ."),
        ("gpj.\u202egnp", "gpj.gnp"),
        ("  \n padded \t\n", "padded"),
        ("col\tumn", "col\tumn"),
        ("", ""),
        ("\x00\u200b", ""),
    ],
)
def test_control_characters_go(text: str, cleaned: str) -> None:
    assert clean_error(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "pass\x00word=CANARY",
        "password\u200b=CANARY",
        "pass\x1b[0mword=CANARY",
        "password=CAN\x1b[31mARY",
        "-----BEGIN PRIVATE KEY-----\r\nCANARY\r\n-----END PRIVATE KEY-----",
    ],
)
def test_nothing_hides_behind_what_cannot_be_seen(text: str) -> None:
    assert "CANARY" not in clean_error(text)


@pytest.mark.parametrize("character", ["x", "é", "日", "😀"])
@pytest.mark.parametrize("shift", range(4))
def test_a_long_error_is_cut_between_characters(character: str, shift: int) -> None:
    cleaned = clean_error("-" * shift + character * 1030)
    assert cleaned.endswith("…")
    assert set(cleaned) <= {"-", character, "…"}
    assert 1024 - 4 < len(cleaned.encode()) <= 1024


def test_an_error_that_just_fits_is_not_cut() -> None:
    assert clean_error("x " * 511 + "xx") == "x " * 511 + "xx"


@pytest.mark.parametrize("length", [16_300, 16_370, 16_384, 16_390])
@pytest.mark.parametrize(
    "secret",
    [
        "postgres://u:CANARYCANARY@h/db",
        "-----BEGIN PRIVATE KEY-----\nCANARY\nCANARY\n-----END PRIVATE KEY-----",
        'password="CANARY CANARY CANARY CANARY CANARY"',
        "Authorization: Digest a=CANARY b=CANARY c=CANARY d=CANARY",
        "u:" + "CANARY" * 20 + "@localhost",
    ],
)
def test_a_secret_at_the_cut_of_a_huge_text_does_not_move_up_into_sight(secret: str, length: int) -> None:
    # all that stands before it shrinks to next to nothing
    filler = "/home/" + "x" * (length - 20) + " "
    for shift in range(0, 140, 7):
        cleaned = clean_error(filler + "y" * shift + " " + secret + " the end " + "z" * 5000)
        assert "CANARY" not in cleaned
        assert len(cleaned) < 400


def test_a_huge_text_without_a_space_is_cut_all_the_same() -> None:
    assert clean_error("x" * 1_000_000) == "x" * 1021 + "…"


def cpu_seconds(text: str) -> float:
    """Return the processor's time, which nobody else on the machine can lengthen much."""
    fastest = 60.0
    for _ in range(3):
        begin = time.process_time()
        redact(text, emails=True)
        fastest = min(fastest, time.process_time() - begin)
    return fastest


@pytest.mark.parametrize("piece", PIECES)
def test_sixteen_times_the_text_takes_no_more_than_about_sixteen_times_the_work(piece: str) -> None:
    short = cpu_seconds((piece * 1024)[:1024])
    long = cpu_seconds((piece * 16384)[:16384])
    # 16 is linear, 256 would be quadratic
    assert long < 64 * max(short, 0.0002)
