"""template.yaml, read with its short tags written out."""

from __future__ import annotations

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


def resources(kind: str) -> dict[str, Template]:
    """Return the resources of the type `kind`, by logical id."""
    return {name: one for name, one in template()["Resources"].items() if one["Type"] == kind}
