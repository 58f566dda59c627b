"""Looks up what is known to be wrong with the packages in the layers: ``python -m local.audit``.

=====  ======================================================================
exit   means
=====  ======================================================================
0      every package was looked up, and nothing is known of any
1      something is known, and is printed
3      not audited: the data could not be had, so nothing is known either way
=====  ======================================================================

A database that cannot be reached, or that answers everything with "nothing", must not look like good news. So
a package that is known to be bad is looked up beside: where it is not found out, nothing was audited.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from local.paths import ROOT

CLEAN, FOUND, NOT_AUDITED = 0, 1, 3
KNOWN_TO_BE_BAD = ("jinja2", "2.4.1")
PATIENCE_SECONDS = 300

Pin: TypeAlias = tuple[str, str]


class NotAudited(Exception):
    """The data could not be had; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is known of the packages in the layers; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.audit", description=__doc__.partition("\n")[0])
    parser.add_argument("--osv-url", default="https://api.osv.dev/v1/query", help="the database to ask")
    asked = parser.parse_args(arguments)
    packages = sorted({pin for lock in locks() for pin in pins(lock)})
    try:
        known = look_up(packages, asked.osv_url)
    except NotAudited as reason:
        print(f"not audited: {reason}")
        return NOT_AUDITED
    for (name, version), found in known.items():
        print(f"{name} {version}: {', '.join(found)}")
    print(f"{len(packages)} packages in the layers looked up, something is known of {len(known)}")
    return FOUND if known else CLEAN


def locks() -> list[Path]:
    """Return the locks of the layers."""
    return sorted((ROOT / "layers").glob("*/requirements.txt"))


def pins(lock: Path) -> list[Pin]:
    """Return each package of a lock with its version."""
    return re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", lock.read_text("utf-8"), re.MULTILINE)


def look_up(packages: Sequence[Pin], osv_url: str) -> dict[Pin, list[str]]:
    """Return the ids of what is known to be wrong, for each package of which anything is.

    Raises
    ------
    NotAudited
        If not every package could be looked up, or what is known to be bad was not found out.
    """
    asked = {*packages, KNOWN_TO_BE_BAD}
    told = _ask([f"{name}=={version}" for name, version in sorted(asked)], osv_url)
    known = {(one["name"], one["version"]): [bad["id"] for bad in one["vulns"]] for one in told}
    if known.keys() != asked:
        raise NotAudited("not every package was looked up")
    if not known.pop(KNOWN_TO_BE_BAD):
        raise NotAudited(f"{osv_url} knows nothing of {' '.join(KNOWN_TO_BE_BAD)}, which is known to be bad")
    return {pin: found for pin, found in known.items() if found}


def _ask(requirements: Sequence[str], osv_url: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "requirements.txt"), Path(folder, "report.json")
        listed.write_text("\n".join(requirements) + "\n", "utf-8")
        command = [str(Path(sys.executable).with_name("pip-audit")), "--requirement", str(listed)]
        command += ["--disable-pip", "--no-deps", "--progress-spinner", "off", "--cache-dir", folder]
        command += ["--vulnerability-service", "osv", "--osv-url", osv_url]
        command += ["--format", "json", "--output", str(report)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
            )
            # it ends with 1 where something is known, and where it broke: only the report tells
            dependencies: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["dependencies"]
        except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
            raise NotAudited(f"{osv_url} gave no report") from None
        if done.returncode not in (CLEAN, FOUND) or not all("vulns" in one for one in dependencies):
            raise NotAudited("some packages were passed over")
        return dependencies


if __name__ == "__main__":
    sys.exit(main())
