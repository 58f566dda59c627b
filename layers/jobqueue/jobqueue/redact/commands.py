"""Passwords that commands are given by flags that do not say so: ``mysql -pX``, ``redis-cli -a X``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobqueue.redact.markers import HIDDEN


@dataclass(frozen=True, slots=True)
class _Flag:
    """The flag of a command that a password comes after.

    Attributes
    ----------
    name : str
        As it is written; in other commands it means something harmless, such as a port or a folder.
    is_apart : bool
        Whether the password may be the next word. Where it may not, a next word is something else: what
        follows ``mysql -p`` is the database.
    """

    name: str
    is_apart: bool = True


_FLAGS = {
    "mysql(?:admin|binlog|check|dump|import|pump|sh|show|slap)?": _Flag("-p", is_apart=False),
    "mariadb(?:-[a-z]{1,16})?|7z[ar]?": _Flag("-p", is_apart=False),
    "sshpass|mongo(?:sh|dump|restore|export|import)?|rabbitmqadmin": _Flag("-p"),
    "(?:docker|podman|nerdctl|buildah|skopeo|helm|oc|az|npm)[\"']?,?[ ][\"']?login": _Flag("-p"),
    "redis-(?:cli|benchmark)|valkey-cli": _Flag("-a"),
    "ldap(?:add|compare|delete|modify|passwd|search|whoami)": _Flag("-w"),
    "zip|unzip|sqlcmd|bcp|ipmitool|mosquitto_(?:pub|rr|sub)": _Flag("-P"),
}
_COMMANDS = [(re.compile(pattern), flag) for pattern, flag in _FLAGS.items()]

# What a command is given ends with its line, or where the next one begins. Words may be a list's, in quotes.
_WORD = re.compile(
    rf"""
      (?P<end> [\n|;&] )
    | (?<![\w.-]) (?P<command> {"|".join(_FLAGS)} ) (?![\w.-])
    | (?<=[ \t"'])
      (?P<flag> -[apPw] )
      (?P<between> ["']?,?[ \t]{{1,8}}["']? | =?["']? )
      (?! - )
      (?P<value> (?<=["']) [^"'\n]++ | [^\s"'`|;&,]++ )
    """,
    re.VERBOSE,
)


def hide_command_passwords(text: str) -> str:
    """Replace the passwords that commands were given by flags of one letter."""
    known: _Flag | None = None

    def replace(found: re.Match[str]) -> str:
        nonlocal known
        if found["end"]:
            known = None
        elif command := found["command"]:
            known = next(flag for pattern, flag in _COMMANDS if pattern.fullmatch(command))
        elif known is not None and known.name == found["flag"]:
            is_apart = any(character in found["between"] for character in " \t")
            if known.is_apart or not is_apart:
                return f"{found['flag']}{found['between']}{HIDDEN}"
        return found[0]

    return _WORD.sub(replace, text)
