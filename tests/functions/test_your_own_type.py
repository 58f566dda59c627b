"""A type of job of one's own, added as the README says: nothing that is checked here minds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.template import ROOT

DECLARED = "layers/jobtypes/jobtypes/__init__.py"
PAYLOADS = "layers/jobtypes/jobtypes/payloads.py"
HANDLER = "functions/work_jobs/handlers/thumbnail.py"
COPIED = ("events", "functions", "layers", "local", "openapi", "tests")
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to which the README's steps were done."""
    clone = tmp_path_factory.mktemp("clone")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, clone / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "template.yaml"):
        shutil.copy(ROOT / name, clone)
    declaration, payload, handler = blocks()
    listed = (clone / DECLARED).read_text()
    begins = "    types=[\n"
    assert listed.count(begins) == 1
    entry = textwrap.indent(f"{declaration.rstrip()},\n", " " * 8)
    (clone / DECLARED).write_text(listed.replace(begins, begins + entry))
    with (clone / PAYLOADS).open("a") as payloads:
        payloads.write(f"\n\n{payload}")
    (clone / HANDLER).write_text(handler)
    return clone


def blocks() -> list[str]:
    """Return the README's Python, in the order of its steps."""
    page = (ROOT / "README.md").read_text()
    chapter = page[page.index("## Your own types of job") :]
    chapter = chapter[: chapter.index("\n### ")]
    found = re.findall(r"^   ```python\n(.*?)^   ```$", chapter, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


def run(clone: Path, *command: str | Path) -> None:
    """Run a command in the copy, which must succeed."""
    path = [clone, clone / "layers/jobqueue", clone / "layers/jobtypes"]
    done = subprocess.run(
        command,
        cwd=clone,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_as_tidy_as_the_rest(clone: Path) -> None:
    changed = (DECLARED, PAYLOADS, HANDLER)
    run(clone, BIN / "ruff", "check", "--no-cache", *changed)
    run(clone, BIN / "ruff", "format", "--no-cache", "--check", *changed)


def test_its_types_are_right(clone: Path) -> None:
    run(clone, BIN / "mypy", "--cache-dir", clone / ".mypy", DECLARED, PAYLOADS, HANDLER)


def test_the_tests_of_types_and_workers_pass(clone: Path) -> None:
    tests = ("tests/functions/test_work_jobs.py", "tests/unit/test_jobtype.py")
    run(clone, sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *tests)
