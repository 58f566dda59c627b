"""Every dependency is pinned by its hash, and the tests run the versions that are deployed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.template import ROOT

DEPLOYED = sorted((ROOT / "layers").glob("*/requirements.txt"))
LOCKS = [*DEPLOYED, *sorted((ROOT / "requirements").glob("*.txt"))]


def pins(lock: Path) -> dict[str, set[str]]:
    """Return the versions of every package of a lock; one may have several, for different Pythons."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([A-Za-z0-9_.-]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE
    ):
        found.setdefault(name, set()).add(version)
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_every_pin_has_its_hashes(lock: Path) -> None:
    entries = re.split(
        r"\n(?=[A-Za-z0-9])", re.sub(r"^\s*#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert len(entries) == sum(map(len, pins(lock).values())) > 0
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_no_lock_says_where_packages_come_from(lock: Path) -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links", lock.read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", DEPLOYED, ids=lambda lock: lock.parent.name)
def test_the_tests_run_what_is_deployed(lock: Path) -> None:
    tested = pins(ROOT / "requirements" / "dev.txt")
    assert {name: tested.get(name) for name in pins(lock)} == pins(lock)


def test_the_runtime_brings_its_own_boto3() -> None:
    for lock in DEPLOYED:
        assert pins(lock).keys() & {"boto3", "botocore", "s3transfer"} == set()
