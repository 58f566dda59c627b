"""Credentials in addresses: ``scheme://user:password@host`` and its many relatives."""

from __future__ import annotations

import re

from jobqueue.redact.markers import EMAIL, HIDDEN

# To the end of the word, or to the next address in it.
_ADDRESS = re.compile(r"""(https?)?://((?:(?!://)[^\s"'`<>])+)""", re.IGNORECASE)
_HOST_AND_MORE = r"(?=(?:tcp|udp|unix)?\(|localhost\b|[\w.-]{1,253}(?::\d|/|\()|[\w-]{1,63}(?![\w.-]))"
_LOGIN = re.compile(
    rf"""(?<![\w./%+-])(?!mailto:)[\w.%+-]{{1,64}}:[^\s@/"'`<>]{{1,256}}@(?!sha\d)(?!\[){_HOST_AND_MORE}"""
)
_ORACLE_LOGIN = re.compile(r"""(?<![\w./@-])[\w$#]{1,64}/[^\s/@"']{1,128}@(?!sha\d)(?=[\w.-]{1,253}:\d)""")
_CURL_LOGIN = re.compile(r"""(?<![\w-])(-u|--user|--proxy-user)([ =]{1,4}["']?)[^\s:"']{1,128}:[^\s"']++""")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")


def hide_logins(text: str) -> str:
    """Replace user and password in addresses and connection strings; the host stays."""
    text = _CURL_LOGIN.sub(rf"\1\2{HIDDEN}", text)
    if "@" not in text:
        return text
    text = _ADDRESS.sub(_without_login, text)
    text = _LOGIN.sub(f"{HIDDEN}@", text)
    return _ORACLE_LOGIN.sub(f"{HIDDEN}@", text)


def hide_emails(text: str) -> str:
    """Replace e-mail addresses."""
    return _EMAIL.sub(EMAIL, text) if "@" in text else text


def _without_login(found: re.Match[str]) -> str:
    web, address = found[1] or "", found[2]
    path = min((at for mark in "/?#" if (at := address.find(mark)) >= 0), default=len(address))
    user, colon, password = address[:path].partition(":")
    login = address[:path].rfind("@")
    # A password may hold any mark, so the login of a database goes to the last "@" there is. In the path of
    # a web address one is common; there it counts only where what should be the port is no number.
    if colon and "@" not in user and not (web and (login >= 0 or password.isdigit())):
        login = address.rfind("@")
    return f"{web}://{HIDDEN}{address[login:]}" if login >= 0 else found[0]
