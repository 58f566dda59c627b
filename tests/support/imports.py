"""What the modules of the project import, read from their sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.template import ROOT

LIBRARY = ROOT / "layers" / "jobqueue" / "jobqueue"
JOBTYPES = ROOT / "layers" / "jobtypes" / "jobtypes"
FUNCTIONS = ROOT / "functions"


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imported(source: Path) -> Iterator[str]:
    """Yield every module that `source` imports, lazily or for types only included."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: a relative import"
            assert node.module is not None
            # `from jobqueue import table` names a module in the second place
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def third_parties(source: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(source)}
