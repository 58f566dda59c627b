"""Which API to call, with which key: from the environment, or from a profile in a file."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MEMBERS = {"url", "key"}
_DEFAULT = "default"


class InvalidSettings(Exception):
    """The settings do not say which API to call, or cannot be used."""


@dataclass(frozen=True, slots=True)
class Profile:
    """An API and a key, and where they were found."""

    url: str
    key: str = field(repr=False)
    source: str = "the environment"


def find_profile(name: str | None, environ: Mapping[str, str]) -> Profile:
    """Return the profile that was asked for, or else what the environment says, or else the default one.

    URL and key always come from the same place, so that no key is sent to another deployment than its own.

    Parameters
    ----------
    name : str, optional
        From ``--profile``.
    environ : mapping
        JOBQUEUE_URL and JOBQUEUE_KEY, JOBQUEUE_PROFILE, and XDG_CONFIG_HOME and HOME for the file's place.

    Raises
    ------
    InvalidSettings
        There is none, or it cannot be used.
    """
    url, key = environ.get("JOBQUEUE_URL"), environ.get("JOBQUEUE_KEY")
    if name is None and (url or key):
        if not url or not key:
            missing, there = ("JOBQUEUE_KEY", "JOBQUEUE_URL") if url else ("JOBQUEUE_URL", "JOBQUEUE_KEY")
            raise InvalidSettings(f"{there} is set but {missing} is not")
        return Profile(url, key)
    path = config_path(environ)
    wanted = name or environ.get("JOBQUEUE_PROFILE") or _DEFAULT
    try:
        profiles = _read(path)
    except FileNotFoundError:
        raise InvalidSettings(f"set JOBQUEUE_URL and JOBQUEUE_KEY, or write a profile into {path}") from None
    return _profile(profiles, wanted, path)


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the file of profiles is."""
    base = Path(environ.get("XDG_CONFIG_HOME", ""))
    # a relative one has to be ignored, says the standard
    if not base.is_absolute():
        home = environ.get("HOME")
        base = (Path(home) if home else Path.home()) / ".config"
    return base / "jobqueue" / "config.toml"


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            # of the open file, since the path may lead elsewhere a moment later
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise InvalidSettings(f"{path} is open to others, and it holds keys: chmod 600 {path}")
            return tomllib.load(file)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InvalidSettings(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidSettings(f"{path} is not TOML: {error}") from None


def _profile(profiles: dict[str, Any], name: str, path: Path) -> Profile:
    found = profiles.get(name)
    if not isinstance(found, dict):
        there = ", ".join(one for one, members in profiles.items() if isinstance(members, dict))
        raise InvalidSettings(f"there is no profile {name!r} in {path}, only: {there or 'none'}")
    unknown = found.keys() - _MEMBERS
    if unknown:
        raise InvalidSettings(f"profile {name!r} in {path} has {min(unknown)!r}, which is not a setting")
    for member in sorted(_MEMBERS):
        if not isinstance(found.get(member), str) or not found[member]:
            raise InvalidSettings(f"profile {name!r} in {path} has no {member}, or it is not text")
    return Profile(found["url"], found["key"], f"profile {name!r} in {path}")
