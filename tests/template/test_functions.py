"""What every function of the deployment has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jobqueue.settings import MAX_CALLER_THROTTLE_RATE, CallerLimit
from tests.support.functions import declared, folders, logical_id
from tests.support.template import ROOT, resources, template

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
    assert declared()[name].keys() & {"Runtime", "Handler", "Architectures"} == set()


def test_every_function_runs_on_the_chosen_processor_with_the_layer_built_for_it() -> None:
    assert setting("Runtime") == "python3.13"
    assert setting("Architectures") == [{"Ref": "Architecture"}]
    assert setting("Layers") == [
        {"Fn::If": ["OnArm64", {"Ref": "JobqueueArm64Layer"}, {"Ref": "JobqueueX8664Layer"}]},
        {"Ref": "JobtypesLayer"},
    ]


def test_only_the_authorizer_carries_what_checks_tokens_and_only_where_they_are_taken() -> None:
    carrying = {name: one["Layers"] for name, one in declared().items() if "Layers" in one}
    built_for_it = {"Fn::If": ["OnArm64", {"Ref": "TokensArm64Layer"}, {"Ref": "TokensX8664Layer"}]}
    those_of_all = setting("Layers")
    assert carrying == {
        "authorize_request": {"Fn::If": ["TakesTokens", [*those_of_all, built_for_it], those_of_all]}
    }


@pytest.mark.parametrize("layer", sorted(resources("AWS::Serverless::LayerVersion")))
def test_a_layer_is_deployed_to_the_processor_that_it_is_built_for(layer: str) -> None:
    resource = template()["Resources"][layer]
    processors = {
        "OnArm64": ["arm64"],
        "OnX8664": ["x86_64"],
        "TakesTokensOnArm64": ["arm64"],
        "TakesTokensOnX8664": ["x86_64"],
        None: ["arm64", "x86_64"],
    }[resource.get("Condition")]
    assert resource["Properties"]["CompatibleArchitectures"] == processors
    assert resource["Metadata"] == {"BuildMethod": "makefile", "BuildArchitecture": processors[0]}
    assert resource["Properties"]["CompatibleRuntimes"] == [setting("Runtime")]


def test_the_processors_are_told_apart() -> None:
    conditions = template()["Conditions"]
    for condition, processor in {"OnArm64": "arm64", "OnX8664": "x86_64"}.items():
        assert conditions[condition] == {"Fn::Equals": [{"Ref": "Architecture"}, processor]}
        both = {"Fn::And": [{"Condition": "TakesTokens"}, {"Condition": condition}]}
        assert conditions[f"TakesTokens{condition}"] == both


def test_every_function_is_started_by_something() -> None:
    without_event = {name for name, one in declared().items() if not one.get("Events")}
    # the API asks the one, rules that a deployer adds start the other
    assert without_event == {"authorize_request", "enqueue_scheduled"}


def test_a_failed_start_is_not_repeated() -> None:
    """A start by a schedule or the stream carries no job, and the next one comes within a minute."""
    asynchronous = {
        name: one["EventInvokeConfig"] for name, one in declared().items() if "EventInvokeConfig" in one
    }
    assert asynchronous.keys() == {"measure_queues", "rescue_jobs", "work_jobs"}
    assert all(config["MaximumRetryAttempts"] == 0 for config in asynchronous.values())
    stream = declared()["work_jobs"]["Events"]["JobReady"]["Properties"]
    assert (stream["MaximumRetryAttempts"], stream["MaximumRecordAgeInSeconds"]) == (0, 60)
    assert stream["ParallelizationFactor"] > 1


def test_what_a_request_leads_to_is_traced_and_what_every_minute_begins_is_not() -> None:
    assert setting("Tracing") == "Active"
    assert {name: one["Tracing"] for name, one in declared().items() if "Tracing" in one} == {
        "measure_queues": "PassThrough",
        "rescue_jobs": "PassThrough",
    }


def test_every_function_of_a_route_ends_before_the_api_gives_up() -> None:
    on_routes = [one for one in declared().values() if "HttpApi" in str(one.get("Events"))]
    assert on_routes
    assert all(one.get("Timeout", setting("Timeout")) < 30 for one in on_routes)


def test_concurrency_is_reserved_for_the_worker_alone_and_only_where_that_is_set() -> None:
    reserving = {name: one for name, one in declared().items() if "ReservedConcurrentExecutions" in one}
    assert reserving.keys() == {"work_jobs"}
    set_aside = {"Fn::If": ["ReservesWorkers", {"Ref": "WorkerReservedConcurrency"}, {"Ref": "AWS::NoValue"}]}
    assert reserving["work_jobs"]["ReservedConcurrentExecutions"] == set_aside
    is_set = {"Fn::Not": [{"Fn::Equals": [{"Ref": "WorkerReservedConcurrency"}, 0]}]}
    assert template()["Conditions"]["ReservesWorkers"] == is_set
    assert template()["Parameters"]["WorkerReservedConcurrency"]["Default"] == 0


def test_callers_are_limited_only_where_that_is_set() -> None:
    is_set = {"Fn::Not": [{"Fn::Equals": [{"Ref": "CallerThrottleRate"}, 0]}]}
    assert template()["Conditions"]["ThrottlesCallers"] == is_set
    assert template()["Parameters"]["CallerThrottleRate"]["Default"] == 0
    told = setting("Environment")["Variables"]
    assert told["CALLER_THROTTLE_RATE"] == {"Ref": "CallerThrottleRate"}
    assert told["CALLERS_TABLE"] == {"Fn::If": ["ThrottlesCallers", {"Ref": "CallersTable"}, ""]}


def test_whatever_limit_can_be_deployed_the_functions_take() -> None:
    parameter = template()["Parameters"]["CallerThrottleRate"]
    for rate in (parameter["MinValue"], 0.1, parameter["MaxValue"]):
        CallerLimit.from_env({"CALLER_THROTTLE_RATE": str(rate), "CALLERS_TABLE": "callers"})
    assert parameter["MaxValue"] == MAX_CALLER_THROTTLE_RATE


def test_every_parameter_is_explained_and_bounded() -> None:
    for name, parameter in template()["Parameters"].items():
        assert len(parameter["Description"]) > 20, name
        assert parameter.keys() & {"AllowedValues", "AllowedPattern", "MinValue"}, name


def test_every_parameter_is_used() -> None:
    body = str({key: value for key, value in template().items() if key != "Parameters"})
    unused = {
        name for name in template()["Parameters"] if not re.search(rf"'Ref': '{name}'|\$\{{{name}\}}", body)
    }
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
