"""Secrets that are known by their names: ``password=…``, ``"token": "…"``, ``--api-key …``."""

from __future__ import annotations

import re

from jobqueue.redact.markers import HIDDEN
from jobqueue.redact.words import Kind, is_code, is_nothing, is_plain, is_prose, kind_of

# A name, and what stands between it and its value. A run of name characters is begun only where it
# begins, and is never given back: so the text is gone through once.
_NAME = re.compile(
    r"""
    (?<![\w.-]) (?P<dashes> [.-]*+ )
    (?P<name> [\w.-]++ (?: [ ](?:id|key|passphrase|password|secret|string|token)(?![\w.-]) )? )
    (?P<close> \\{0,3}["'`]\]? )?
    (?P<between>
        [ \t]{0,8} (?: => | := | ={1,3} | %3[ADad] | :(?![:/]/?) ) [ \t]{0,8}
      | [ \t]{0,4} , [ \t]{0,4} (?=[bu]?\\{0,3}["'])
      | [ \t]{1,4} (?: is | was | are ) [ \t]{1,4}
      | [ \t]{1,8}
      | >
    )
    """,
    re.VERBOSE,
)
_QUOTE = re.compile(r"""[bBfFrRuU]{0,2}(\\{0,3}["'`])""")
_SCHEME = re.compile(
    r"(?:api-?key|basic|bearer|key|negotiate|ntlm|ssws|token)[ \t]{1,8}"
    r"|(?P<whole_line>aws4-hmac-sha256|digest|hmac[\w-]{0,16}|oauth|signature)[ \t]{1,8}",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\n]*+")
_LINE_OR_QUOTE = re.compile(r"""[^\n"'`]*+""")
_IN_BRACKETS = re.compile(
    r"""(?: \[[^\]\n]*+\]? | \{[^}\n]*+\}? | \([^)\n]*+\)? ) [^\s"'`;&,]*+""", re.VERBOSE
)
_IN_TAG = re.compile(r"[^<\n]++")
# A comma belongs to the value unless the next member begins behind it. Not possessive: before Python 3.11.5 a
# possessive group with a choice in it matches wrongly (python/cpython#106052).
_BARE = re.compile(
    r"""(?: [^\s"'`;&,] | ,(?! \s | \Z | ["'`]? [\w.-]{1,64} ["'`]? \s? [:=]) )+""", re.VERBOSE
)
# Where nothing stands between, a word is a secret as far as it goes.
_ALONE = re.compile(r"""[^\s"'`;,]++""")
_VERDICT = re.compile(
    r"[ \t]{1,4}(?:(?:is|was|does|did|has)(?:n't|[ ]not)?|incorrect|invalid|not|rejected|refused|wrong)(?!\w)"
)
_SENTENCE_GOES_ON = re.compile(r"[ \t][a-z]")


def hide_pairs(text: str) -> str:
    """Replace the values of names that name a secret."""
    parts: list[str] = []
    done = at = 0
    while found := _NAME.search(text, at):
        at = found.end("name")
        kind = kind_of(found["name"])
        if kind is None or not _assigns(found, kind):
            continue
        begin, end = _value(found, kind)
        if begin < end:
            parts += (text[done:begin], HIDDEN)
            done = at = end
    return "".join((*parts, text[done:]))


def _assigns(found: re.Match[str], kind: Kind) -> bool:
    """Tell whether what stands after a name of this kind gives it a value."""
    between = found["between"].strip()
    before = found.string[max(0, found.start() - 1) : found.start()]
    if kind is Kind.QUERY:
        return between == "=" and before in ("?", "&")
    match between:
        case ",":
            return found["close"] is not None
        case "":
            is_flag = found["dashes"].startswith("-")
            return is_flag or (
                kind is not Kind.ASSIGNED
                and (_QUOTE.match(found.string, found.end()) is not None or _stands_alone(found))
            )
        case ">":
            return before == "<"
        case "is" | "was" | "are":
            return kind is not Kind.ASSIGNED
        case _:
            return True


def _stands_alone(found: re.Match[str]) -> bool:
    """Tell whether the next word is the secret: ``token 5f4dcc3b5aa7``, ``password 123456 is wrong``."""
    word = _ALONE.match(found.string, found.end())
    if word is None or word[0].startswith(HIDDEN):
        return False
    value = word[0].rstrip(".:!?)]}")
    if is_code(value):
        return True
    of_a_person = "pass" in found["name"].lower() or "pwd" in found["name"].lower()
    return of_a_person and not is_plain(value) and _VERDICT.match(found.string, word.end()) is not None


def _value(found: re.Match[str], kind: Kind) -> tuple[int, int]:
    """Return from where to where the secret goes; nothing if what stands there is none."""
    text, begin = found.string, found.end()
    name = found["name"].lower()
    if found["between"] == ">":
        return _span(_IN_TAG, text, begin)
    if quote := _QUOTE.match(text, begin):
        return _quoted(text, quote, unsure=_is_unsure(found, kind))
    if name.endswith("authorization") and (scheme := _SCHEME.match(text, begin)):
        rest = _LINE if scheme["whole_line"] else _BARE
        return _span(rest, text, scheme.end())
    if name.endswith("cookie"):
        return _span(_LINE_OR_QUOTE, text, begin)
    if text[begin : begin + 1] in ("[", "{", "("):
        begin, end = _span(_IN_BRACKETS, text, begin)
        return (begin, begin) if _is_told(text[begin:end]) else (begin, end)
    is_alone = not found["between"].strip() and not found["dashes"]
    begin, end = _span(_ALONE if is_alone else _BARE, text, begin)
    return (begin, begin) if _is_harmless(found, kind, text[begin:end], end) else (begin, end)


def _span(pattern: re.Pattern[str], text: str, begin: int) -> tuple[int, int]:
    found = pattern.match(text, begin)
    return (begin, found.end() if found else begin)


def _quoted(text: str, quote: re.Match[str], *, unsure: bool) -> tuple[int, int]:
    """Find the end of a quoted value; one that is never closed goes to the end of its line."""
    begin, mark = quote.end(), quote[1]
    line_end = text.find("\n", begin)
    end = line_end = len(text) if line_end < 0 else line_end
    at = text.find(mark, begin, line_end)
    while at >= 0:
        if len(mark) > 1 or not _is_escaped(text, begin, at):
            end = at
            break
        at = text.find(mark, at + 1, line_end)
    value = text[begin:end]
    if is_nothing(value) or _is_told(value) or (unsure and not _is_mixed(value)):
        return begin, begin
    return begin, end


def _is_escaped(text: str, begin: int, at: int) -> bool:
    before = text[begin:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _is_unsure(found: re.Match[str], kind: Kind) -> bool:
    """Tell a parser's ``Unexpected token '<'`` from somebody's ``password 'x'``."""
    return kind is Kind.TOKEN and not found["between"].strip() and not found["dashes"]


def _is_harmless(found: re.Match[str], kind: Kind, value: str, end: int) -> bool:
    between = found["between"].strip()
    if not any(map(str.isalnum, value)) or is_nothing(value) or value.startswith("arn:"):
        return True
    if between in (":", "is", "was", "are", ""):
        if is_prose(value):
            return True
        if kind is Kind.ASSIGNED and between == ":" and found["close"] is None:
            return not _is_mixed(value)
        if kind is Kind.TOKEN and between != "":
            is_word = value.isalpha() and (value.islower() or value.istitle())
            return is_word and _SENTENCE_GOES_ON.match(found.string, end) is not None
    return False


def _is_told(value: str) -> bool:
    """Tell whether a value in quotes or brackets is a sentence, as of a validation error."""
    first, *more = value.strip("[]{}()\"'`., ").split(None, 1) or [""]
    return bool(more) and is_prose(first)


def _is_mixed(value: str) -> bool:
    return len(value) >= 6 and any(map(str.isalpha, value)) and any(map(str.isdigit, value))
