"""Inside the layer imports run one way only, from what a caller sees down to what a job is."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.imports import FUNCTIONS, JOBTYPES, LIBRARY, imported, sources, third_parties

# A module may import those of its own line, and of the lines below.
ORDER = (
    {"api"},
    {"scheduled", "worker"},
    {"measuring", "operating", "rescue"},
    {"authorizer", "queue", "recounting", "throttle"},
    {"claiming", "enqueuing", "holding", "listing", "steering"},
    {"takeover"},
    {"deciding", "following", "lanequeries", "oldest", "pauses", "retries", "spread", "taking"},
    {"announcing", "callers", "queues", "table"},
    {"laneindex", "updates"},
    {"changes", "conditions", "lanes", "lifecycle", "marks", "newjob"},
    {"keys"},
    {"declared", "dynamodb", "item"},
    {"jobtype", "metrics", "principal", "tokens", "webhooks"},
    {"job"},
    {"errors", "fielderrors", "jsontext", "redact", "settings", "telemetry"},
)
LINE = {"__init__": len(ORDER)} | {name: line for line, names in enumerate(ORDER) for name in names}
# Who knows that there is a table. The API is not among them.
KNOW_DYNAMODB = {
    "authorizer",
    "callers",
    "changes",
    "claiming",
    "conditions",
    "deciding",
    "dynamodb",
    "enqueuing",
    "following",
    "holding",
    "item",
    "keys",
    "laneindex",
    "lanequeries",
    "lanes",
    "listing",
    "measuring",
    "oldest",
    "pauses",
    "queues",
    "recounting",
    "spread",
    "steering",
    "table",
    "takeover",
    "taking",
    "updates",
}


def parts_of_library(source: Path) -> set[str]:
    """Return which parts of the library `source` imports, by their names under ``jobqueue``."""
    return {name.split(".")[1] for name in imported(source) if name.startswith("jobqueue.")}


def part(source: Path) -> str:
    return source.relative_to(LIBRARY).parts[0].removesuffix(".py")


def test_every_module_has_its_place() -> None:
    assert {part(source) for source in sources(LIBRARY)} - LINE.keys() == set()


@pytest.mark.parametrize("source", sources(LIBRARY), ids=lambda source: str(source.relative_to(LIBRARY)))
def test_imports_run_down(source: Path) -> None:
    upwards = {name for name in parts_of_library(source) if LINE[name] < LINE[part(source)]}
    assert upwards == set()


def test_nothing_imports_itself_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for source in sources(LIBRARY):
        graph.setdefault(part(source), set()).update(parts_of_library(source) - {part(source)})
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_the_api_knows_nothing_of_dynamodb() -> None:
    for source in sources(LIBRARY / "api"):
        assert parts_of_library(source) & KNOW_DYNAMODB == set(), source
        assert third_parties(source) & {"boto3", "botocore"} == set(), source


def test_the_rules_of_a_job_read_no_clock_and_roll_no_dice() -> None:
    forbidden = {"boto3", "botocore", "os", "random", "secrets", "time"}
    assert third_parties(LIBRARY / "lifecycle.py") & forbidden == set()


@pytest.mark.parametrize("source", sources(FUNCTIONS), ids=lambda source: str(source.relative_to(FUNCTIONS)))
def test_functions_only_parse_call_and_answer(source: Path) -> None:
    if source.parent.name != "handlers":  # what a job does is its handler's own affair
        assert third_parties(source) & {"boto3", "botocore"} == set()
    if source.name == "app.py":
        text = source.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 40
        assert not any(isinstance(node, ast.Try) for node in ast.walk(ast.parse(text)))


def test_job_types_are_declared_without_the_queue() -> None:
    for source in sources(JOBTYPES):
        known = {".".join(name.split(".")[:-1]) for name in imported(source) if name.startswith("jobqueue.")}
        assert known <= {"jobqueue.jobtype", "jobqueue.webhooks.headers"}, source


def test_what_payload_models_ask_of_the_layer_imports_nothing() -> None:
    assert third_parties(LIBRARY / "webhooks" / "headers.py") == {"__future__"}
    assert third_parties(LIBRARY / "webhooks" / "__init__.py") == set()
