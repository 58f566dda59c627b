"""The layer, built as `sam build` builds it: for the deployed runtime on any machine, and for this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.imports import FUNCTIONS, JOBTYPES, LIBRARY, sources, third_parties
from tests.support.tally import PROPERTY
from tests.support.template import ROOT

LIBRARY_BYTES, TOKENS_BYTES = 15_000_000, 20_000_000
PROCESSORS = {"Arm64": "aarch64", "X8664": "x86_64"}
# In the header of an ELF file: what machine it is for. https://man7.org/linux/man-pages/man5/elf.5.html
MACHINES = {"aarch64": 183, "x86_64": 62}


@dataclass(frozen=True, slots=True)
class Built:
    """The layers that were built for a processor: what they add to the modules of a function."""

    processor: str
    library: Path
    tokens: Path


@pytest.fixture(scope="module", params=PROCESSORS)
def deployed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    name: str = request.param
    where = tmp_path_factory.mktemp(name)
    return Built(PROCESSORS[name], build(f"Jobqueue{name}Layer", where), build(f"Tokens{name}Layer", where))


def build(layer: str, where: Path, **environment: str) -> Path:
    """Build `layer` as `sam build` does, in a copy of the folder."""
    source = shutil.copytree(ROOT / "layers", where / layer / "source")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["make", "--silent", f"build-{layer}"],
        cwd=source,
        env={**os.environ, "PATH": path, "ARTIFACTS_DIR": str(where / layer / "built"), **environment},
        check=True,
    )
    return where / layer / "built" / "python"


def compiled(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.so*") if path.is_file()]


def test_compiled_code_is_for_the_runtime_and_the_processor(deployed: Built) -> None:
    for site in (deployed.library, deployed.tokens):
        assert compiled(site)
        for path in compiled(site):
            assert int.from_bytes(path.read_bytes()[18:20], "little") == MACHINES[deployed.processor], path
            fits = f".cpython-313-{deployed.processor}-linux-gnu.so" in path.name or ".abi3.so" in path.name
            assert fits, path


def test_the_layers_are_small(deployed: Built, record_property: Callable[[str, object], None]) -> None:
    for name, site, most in (
        ("the jobqueue layer", deployed.library, LIBRARY_BYTES),
        ("the tokens layer", deployed.tokens, TOKENS_BYTES),
    ):
        size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
        record_property(f"{PROPERTY}bytes in {name} for {deployed.processor}", size)
        assert size <= most


def test_nothing_is_there_that_the_runtime_has_or_cannot_use(deployed: Built) -> None:
    for site in (deployed.library, deployed.tokens):
        found = {path.name for path in site.rglob("*")}
        unwanted = {"boto3", "botocore", "s3transfer", "bin", "__pycache__", "Makefile", "requirements.txt"}
        assert found & unwanted == set()
        assert not list(site.rglob("*.pyc"))


def test_everything_is_there_that_is_imported(deployed: Built) -> None:
    files = [*sources(LIBRARY), *sources(JOBTYPES), *sources(FUNCTIONS)]
    needed = {name for source in files for name in third_parties(source)}
    needed -= sys.stdlib_module_names | {"boto3", "botocore", "jobtypes"}
    needed = {name for name in needed if not name.startswith("mypy_boto3_")}  # types alone
    assert needed - modules(deployed.library) == {"jwt"}
    assert "jwt" in modules(deployed.tokens)


def modules(site: Path) -> set[str]:
    return {path.name.removesuffix(".py") for path in site.iterdir()}


def test_the_types_of_job_have_a_layer(tmp_path: Path) -> None:
    site = build("JobtypesLayer", tmp_path)
    built = {path.relative_to(site) for path in site.rglob("*.py")}
    assert built == {path.relative_to(JOBTYPES.parent) for path in sources(JOBTYPES)}
    assert not list(site.rglob("*.pyc"))


def test_a_local_build_runs_on_this_python(tmp_path: Path) -> None:
    site = build("JobqueueArm64Layer", tmp_path, LAYER_TARGET="local")
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import pydantic_core; print(pydantic_core.__file__)"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert Path(shown.stdout.strip()).is_relative_to(site)
