"""Which names name a secret, and which words after such a name are no secret but a sentence."""

from __future__ import annotations

import re
from enum import Enum, auto

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORD = re.compile(r"passw(?:or)?d|passphrase|passcode|pwd|secret(?!ar)")
_KEY = re.compile(
    r"(?:access|account|api|app|auth|client|consumer|deploy|encryption|license|master|private|service|session"
    r"|shared|signing|ssh|storage|subscription|webhook)key"
    r"|connectionstring|authorization|cookie|sessionid|jsessionid|phpsessid|jwt"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Only where a value is plainly assigned: in a sentence they mean too much else.
_ASSIGNED = _words("auth credential credentials dsn otp pass sig signature")
_IN_QUERY = _words("code key")
# What is said *about* a secret: password_policy, token_type, max_tokens.
_ABOUT = _words(
    """
    age arn at attempts count endpoint error errors expired expires expiry expiration field file hint in
    len length limit name policy required reset size status strength ttl type uri url version
    """
)
_PROSE = _words(
    """
    a about again already an and are at auth authentication authorization bad be been before but by can
    cannot change changed contains could credential credentials denied did do does error exceeded expected
    expired expires failed failure for format from given had has have header if in incorrect invalid is it
    length malformed may mismatch missing must needs new not of on only or provided realm refused rejected
    required reset revoked scheme should string that the this to token tokens too unable unexpected unknown
    unsupported used using value verification was weak were when will with without wrong your
    """
)
# Ways to make or to write a secret, which look like one.
_WAYS = _words(
    """
    aes128 aes192 aes256 argon2 base32 base58 base64 blake2b ed25519 oauth1 oauth2 pbkdf2 pkcs12 sha1 sha224
    sha256 sha384 sha512 x25519
    """
)
_TURN = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*(?:['-][a-z]+)*|[A-Z]+|[0-9]{1,3}")
_PART = re.compile(r"[A-Za-z0-9]+")
_NOTHING = _words("empty false no none null nil true undefined unset yes") | {""}


class Kind(Enum):
    """How sure a name is that of a secret."""

    PASSWORD = auto()
    KEY = auto()
    TOKEN = auto()
    ASSIGNED = auto()
    QUERY = auto()


def kind_of(name: str) -> Kind | None:
    """Return what kind of secret is called `name`, or None if none is."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT:
        return None
    joined = "".join(words)
    if _PASSWORD.search(joined):
        return Kind.PASSWORD
    if _KEY.search(joined):
        return Kind.KEY
    if joined.endswith(("token", "tokenvalue", "tokenid")):
        return Kind.TOKEN
    if words[-1] in _ASSIGNED or joined.endswith("pass"):
        return Kind.ASSIGNED
    return Kind.QUERY if joined in _IN_QUERY else None


def is_prose(value: str) -> bool:
    """Tell whether `value` goes on with a sentence about a secret, or says that there is none."""
    return is_nothing(value) or value.lower().strip(".,;:!?()[]{}'\"") in _PROSE


def is_code(value: str) -> bool:
    """Tell whether `value` is no word of a sentence: letters and digits mixed, or what looks random."""
    if "://" in value or len(value) > 512:
        return False
    if len(value) >= 20 and turns(value) >= 0.3:
        return True
    parts = [part for part in _PART.findall(value) if part.lower() not in _WAYS]
    return any(len(part) >= 6 and not part.isalpha() and not part.isdigit() for part in parts)


def is_plain(value: str) -> bool:
    """Tell whether `value` could be a word or a small number in any sentence."""
    return _PLAIN.fullmatch(value) is not None


def turns(word: str) -> float:
    """Return at how many of its places the kind of character changes, as a part of them all."""
    return len(_TURN.findall(word)) / max(1, len(word))


def is_nothing(value: str) -> bool:
    """Tell whether `value` says that there is none, or was hidden before."""
    return value.lower().strip("*.,;)]}") in _NOTHING
