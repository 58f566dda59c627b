"""What every function of the deployment has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.functions import declared, folders, logical_id
from tests.support.template import ROOT, resources, template, transformed

LOG_GROUPS = resources("AWS::Logs::LogGroup")


def setting(name: str) -> Any:
    """Return the property `name` that every function has, told once for all."""
    return template()["Globals"]["Function"][name]


def test_folders_and_template_agree() -> None:
    assert folders() == set(declared())


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_function_is_called_after_its_folder(name: str) -> None:
    assert (
        resources("AWS::Serverless::Function")[f"{logical_id(name)}Function"]["Properties"]
        is declared()[name]
    )


@pytest.mark.parametrize("name", sorted(declared()))
def test_there_is_a_real_event_for_every_function(name: str) -> None:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(event, dict)
    assert event


@pytest.mark.parametrize("name", sorted(declared()))
def test_logs_are_kept_as_long_as_the_deployer_says(name: str) -> None:
    group = f"{logical_id(name)}LogGroup"
    assert declared()[name]["LoggingConfig"] == {"LogGroup": {"Ref": group}}
    assert LOG_GROUPS[group]["Properties"]["LogGroupName"] == {
        "Fn::Sub": f"/aws/lambda/${{AWS::StackName}}/{name}"
    }


@pytest.mark.parametrize("group", LOG_GROUPS)
def test_no_log_is_kept_for_ever(group: str) -> None:
    assert LOG_GROUPS[group]["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", sorted(declared()))
def test_no_function_departs_from_what_all_have(name: str) -> None:
    assert declared()[name].keys() & {"Runtime", "Handler", "Architectures", "Layers", "Tracing"} == set()


def test_every_function_runs_on_the_chosen_processor_with_the_layer_built_for_it() -> None:
    assert setting("Runtime") == "python3.13"
    assert setting("Architectures") == [{"Ref": "Architecture"}]
    assert setting("Layers") == [
        {"Fn::If": ["OnArm64", {"Ref": "JobqueueArm64Layer"}, {"Ref": "JobqueueX8664Layer"}]},
        {"Ref": "JobtypesLayer"},
    ]


@pytest.mark.parametrize(
    ("layer", "processor"), [("JobqueueArm64Layer", "arm64"), ("JobqueueX8664Layer", "x86_64")]
)
def test_a_layer_is_deployed_to_the_processor_that_it_is_built_for(layer: str, processor: str) -> None:
    resource = template()["Resources"][layer]
    assert template()["Conditions"][resource["Condition"]] == {
        "Fn::Equals": [{"Ref": "Architecture"}, processor]
    }
    assert resource["Metadata"] == {"BuildMethod": "makefile", "BuildArchitecture": processor}
    assert resource["Properties"]["CompatibleArchitectures"] == [processor]
    assert resource["Properties"]["CompatibleRuntimes"] == [setting("Runtime")]


def test_every_function_is_traced_and_ends_before_the_api_gives_up() -> None:
    functions = resources("AWS::Lambda::Function", transformed()).values()
    assert all(one["Properties"]["TracingConfig"] == {"Mode": "Active"} for one in functions)
    on_routes = [one for one in declared().values() if "HttpApi" in str(one.get("Events"))]
    assert on_routes
    assert all(one.get("Timeout", setting("Timeout")) < 30 for one in on_routes)


def test_every_parameter_is_explained_and_bounded() -> None:
    for name, parameter in template()["Parameters"].items():
        assert len(parameter["Description"]) > 20, name
        assert parameter.keys() & {"AllowedValues", "AllowedPattern", "MinValue"}, name


def test_every_parameter_is_used() -> None:
    body = str({key: value for key, value in template().items() if key != "Parameters"})
    unused = {name for name in template()["Parameters"] if f"{{'Ref': '{name}'}}" not in body}
    assert unused == set()


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / tool), *arguments]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_cfn_lint_finds_nothing() -> None:
    found = run("cfn-lint", "template.yaml")
    assert (found.returncode, found.stdout) == (0, "")


def test_sam_finds_the_template_valid() -> None:
    found = run("sam", "validate", "--lint")
    assert found.returncode == 0, found.stdout + found.stderr
