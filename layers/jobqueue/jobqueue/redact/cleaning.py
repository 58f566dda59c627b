"""Redacting a text, and making of any text an error message that can be stored and shown."""

from __future__ import annotations

import re

from jobqueue.redact.addresses import hide_emails, hide_logins
from jobqueue.redact.commands import hide_command_passwords
from jobqueue.redact.pairs import hide_pairs
from jobqueue.redact.places import hide_frames, hide_paths
from jobqueue.redact.shapes import hide_bearers, hide_random, hide_shapes

MAX_ERROR_BYTES = 1024

_PASSES = (
    hide_frames,
    hide_shapes,
    hide_logins,
    hide_bearers,
    hide_command_passwords,
    hide_pairs,
    hide_paths,
    hide_random,
)
_ROUNDS = 4

_INPUT_CHARACTERS = 16 * 1024
_LONGEST_WORD = 2048
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|[ -/]*+[0-~])")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")


def redact(text: str, *, emails: bool = False) -> str:
    """Return `text` with what looks like a secret, a file's path or a stack's frame replaced.

    Takes time linear in the length of `text`, raises nothing, and changes nothing the second time.

    Parameters
    ----------
    text : str
        Any text.
    emails : bool
        Whether e-mail addresses are taken out as well.
    """
    for _ in range(_ROUNDS):  # what is taken out can uncover something; one round is nearly always all
        before = text
        for hide in _PASSES:
            text = hide(text)
        if emails:
            text = hide_emails(text)
        if text == before:
            break
    return text


def clean_error(text: str, limit: int = MAX_ERROR_BYTES, *, emails: bool = False) -> str:
    """Return `text` as an error that can be stored: valid, visible, redacted, and not too long.

    Parameters
    ----------
    text : str
        Any text, lone surrogates included: each becomes U+FFFD.
    limit : int
        The most bytes of UTF-8 of the answer; at least 3.
    emails : bool
        Whether e-mail addresses are taken out as well.
    """
    whole = _visible(_valid(_bounded(text)))
    return _shortened(redact(whole, emails=emails).strip(), limit)


def _bounded(text: str) -> str:
    """Cut a text that is far too long, and with it the word that the cut went through.

    Of half a secret nothing can be told, and what is taken out before it may let it move up into sight.
    """
    if len(text) <= _INPUT_CHARACTERS:
        return text
    text = text[:_INPUT_CHARACTERS]
    end = max(text.rfind(space, _INPUT_CHARACTERS - _LONGEST_WORD) for space in " \n\t")
    return text[: end if end >= 0 else _INPUT_CHARACTERS - _LONGEST_WORD]


def _valid(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _visible(text: str) -> str:
    """Remove what could hide a secret from the patterns or a message from its reader."""
    text = _ESCAPE_SEQUENCE.sub("", text)
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def _shortened(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return encoded[: limit - 3].decode(errors="ignore") + "…"
