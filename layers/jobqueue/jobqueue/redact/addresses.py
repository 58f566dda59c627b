"""Credentials in addresses: ``scheme://user:password@host`` and its many relatives."""

from __future__ import annotations

import re

from jobqueue.redact.markers import EMAIL, HIDDEN

# To the end of the word, or to the next address in it.
_ADDRESS = re.compile(r"""://((?:(?!://)[^\s"'`<>])+)""")
_HOST_AND_MORE = r"(?=(?:tcp|udp|unix)?\(|localhost\b|[\w.-]{1,253}(?::\d|/|\()|[\w-]{1,63}(?![\w.-]))"
_LOGIN = re.compile(
    rf"""(?<![\w./%+-])(?!mailto:)[\w.%+-]{{1,64}}:[^\s@/"'`<>]{{1,256}}@(?!sha\d)(?!\[){_HOST_AND_MORE}"""
)
_ORACLE_LOGIN = re.compile(r"""(?<![\w./@-])[\w$#]{1,64}/[^\s/@"']{1,128}@(?=[\w.-]{1,253}:\d)""")
_CURL_LOGIN = re.compile(r"""(?<![\w-])(-u|--user|--proxy-user)([ =]{1,4}["']?)[^\s:"']{1,128}:[^\s"']++""")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")


def hide_logins(text: str) -> str:
    """Replace user and password in addresses and connection strings; the host stays."""
    text = _CURL_LOGIN.sub(rf"\1\2{HIDDEN}", text)
    if "@" not in text:
        return text
    text = _ADDRESS.sub(lambda found: "://" + _without_login(found[1]), text)
    text = _LOGIN.sub(f"{HIDDEN}@", text)
    return _ORACLE_LOGIN.sub(f"{HIDDEN}@", text)


def hide_emails(text: str) -> str:
    """Replace e-mail addresses."""
    return _EMAIL.sub(EMAIL, text) if "@" in text else text


def _without_login(address: str) -> str:
    end = min((at for mark in "/?#" if (at := address.find(mark)) >= 0), default=len(address))
    authority = address[:end]
    if "@" in authority:
        return HIDDEN + address[authority.rindex("@") :]
    _, colon, port = authority.partition(":")
    # "//user:pass/word@host": what should be a port is no number, so it is a password with a slash in it
    if colon and not port.isdigit() and "@" in address:
        return HIDDEN + address[address.rindex("@") :]
    return address
