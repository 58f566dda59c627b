"""The layer, built as `sam build` builds it: for the deployed runtime on any machine, and for this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.imports import JOBTYPES, LIBRARY, sources, third_parties
from tests.support.template import ROOT

MEGABYTE = 1_000_000
PROCESSORS = {"JobqueueArm64Layer": "aarch64", "JobqueueX8664Layer": "x86_64"}
# In the header of an ELF file: what machine it is for. https://man7.org/linux/man-pages/man5/elf.5.html
MACHINES = {"aarch64": 183, "x86_64": 62}


@pytest.fixture(scope="module", params=PROCESSORS)
def deployed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A processor, and the layer built for it."""
    layer: str = request.param
    return PROCESSORS[layer], build(layer, "jobqueue", tmp_path_factory.mktemp(layer))


def build(layer: str, folder: str, where: Path, **environment: str) -> Path:
    source = shutil.copytree(ROOT / "layers" / folder, where / "source")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["make", "--silent", f"build-{layer}"],
        cwd=source,
        env={**os.environ, "PATH": path, "ARTIFACTS_DIR": str(where / "built"), **environment},
        check=True,
    )
    return where / "built" / "python"


def compiled(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.so*") if path.is_file()]


def test_compiled_code_is_for_the_runtime_and_the_processor(deployed: tuple[str, Path]) -> None:
    processor, site = deployed
    assert compiled(site)
    for path in compiled(site):
        assert int.from_bytes(path.read_bytes()[18:20], "little") == MACHINES[processor], path
        assert f".cpython-313-{processor}-linux-gnu.so" in path.name or ".abi3.so" in path.name


def test_the_layer_is_small(deployed: tuple[str, Path]) -> None:
    _, site = deployed
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) <= 15 * MEGABYTE


def test_nothing_is_there_that_the_runtime_has_or_cannot_use(deployed: tuple[str, Path]) -> None:
    _, site = deployed
    found = {path.name for path in site.rglob("*")}
    assert found & {"boto3", "botocore", "s3transfer", "bin", "__pycache__", "tests", "Makefile"} == set()
    assert not list(site.rglob("*.pyc"))


def test_everything_is_there_that_is_imported(deployed: tuple[str, Path]) -> None:
    _, site = deployed
    needed = {name for source in [*sources(LIBRARY), *sources(JOBTYPES)] for name in third_parties(source)}
    needed -= sys.stdlib_module_names | {"boto3", "botocore", "jobtypes"}
    needed = {name for name in needed if not name.startswith("mypy_boto3_")}  # types alone
    there = {path.name.removesuffix(".py") for path in site.iterdir()}
    assert needed - there == set()
    assert "jobqueue" in needed


def test_the_types_of_job_have_a_layer(tmp_path: Path) -> None:
    site = build("JobtypesLayer", "jobtypes", tmp_path)
    built = {path.relative_to(site) for path in site.rglob("*.py")}
    assert built == {path.relative_to(JOBTYPES.parent) for path in sources(JOBTYPES)}
    assert not list(site.rglob("*.pyc"))


def test_a_local_build_runs_on_this_python(tmp_path: Path) -> None:
    site = build("JobqueueArm64Layer", "jobqueue", tmp_path, LAYER_TARGET="local")
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import pydantic_core; print(pydantic_core.__file__)"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert Path(shown.stdout.strip()).is_relative_to(site)
