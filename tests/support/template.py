"""template.yaml, read with its short tags written out, and as the SAM transform makes it."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

ROOT = Path(__file__).parents[2]
Template: TypeAlias = dict[str, Any]


class _Loader(yaml.SafeLoader):
    """YAML with the tags of CloudFormation."""


def _long_form(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        return {name: value.split(".", 1) if suffix == "GetAtt" else value}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {name: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _long_form)


@cache
def template() -> Template:
    """Return template.yaml; ``!Ref Api`` reads as ``{"Ref": "Api"}``."""
    loaded: Template = _Loader((ROOT / "template.yaml").read_text(encoding="utf-8")).get_single_data()
    return loaded


@cache
def transformed() -> Template:
    """Return what CloudFormation deploys: template.yaml after the SAM transform."""
    from samtranslator.translator.transform import transform

    source = copy.deepcopy(template())
    for resource in source["Resources"].values():
        for key in {"CodeUri", "ContentUri"} & resource["Properties"].keys():
            resource["Properties"][key] = "s3://bucket/key"  # as `sam deploy` leaves it
    deployed: Template = transform(source, {}, _NoManagedPolicies())
    return deployed


def resources(kind: str, source: Template | None = None) -> dict[str, Template]:
    """Return the resources of the type `kind` by logical id, from template.yaml unless told otherwise."""
    found = (source or template())["Resources"]
    return {name: one for name, one in found.items() if one["Type"] == kind}


class _NoManagedPolicies:
    """Template names no managed policy by its short name, so that there is none to look up."""

    def load(self) -> dict[str, str]:
        return {}
