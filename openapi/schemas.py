"""Models written as JSON Schema, with words from their docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

Schema: TypeAlias = dict[str, Any]

REFERENCE = "#/components/schemas/{model}"
_PARAMETERS = re.compile(r"\n(?:Attributes|Parameters)\n-+\n")
_FIELD = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:    .*\n?|\n)+)", re.MULTILINE)


class Undescribed(Exception):
    """Something is missing that the document must tell."""


class _Described(GenerateJsonSchema):
    """Words from docstrings, and no titles, which would only repeat the names."""

    def field_title_should_be_set(self, _: Any) -> bool:
        """Tell whether a field has a title."""
        return False

    def model_schema(self, schema: Any) -> Schema:
        """Write a model."""
        written = super().model_schema(schema)
        _describe(schema["cls"], written)
        return written

    def enum_schema(self, schema: Any) -> Schema:
        """Write a choice."""
        written = super().enum_schema(schema)
        written.pop("title", None)
        written["description"] = _plain(written.get("description", ""))
        return written


def model_schemas(models: Iterable[type[BaseModel]]) -> dict[str, Schema]:
    """Return the schemas of models, and of all that they refer to, by name.

    Raises
    ------
    Undescribed
        If two models have one name, or a field of ours has no description.
    """
    _, written = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)],
        ref_template=REFERENCE,
        schema_generator=_Described,
    )
    schemas: dict[str, Schema] = written["$defs"]
    for name in schemas:
        if "__" in name:  # pydantic tells two of one name apart by their modules
            raise Undescribed(f"two models are called {name.rpartition('__')[2]}")
    return schemas


def reference(model: type[BaseModel]) -> Schema:
    """Return a reference to a model's schema."""
    return {"$ref": REFERENCE.format(model=model.__name__)}


def words(model: type[BaseModel]) -> tuple[str, dict[str, str]]:
    """Return what a model's docstring says of it, and of each of its fields."""
    fields: dict[str, str] = {}
    for one in reversed(model.__mro__):
        for names, description in _FIELD.findall(_parted(one)[1]):
            fields |= {name.strip(): _plain(inspect.cleandoc(description)) for name in names.split(",")}
    return _plain(_parted(model)[0]), fields


def _describe(model: type[BaseModel], schema: Schema) -> None:
    schema.pop("title", None)
    schema["description"], fields = words(model)
    ours = model.__module__.partition(".")[0] in {"jobqueue", "openapi"}
    for name, field in schema.get("properties", {}).items():
        if name in fields:
            field["description"] = fields[name]
        elif ours:
            raise Undescribed(f"{model.__name__}.{name} is not described: its class's docstring must tell")


def _parted(model: type[Any]) -> tuple[str, str]:
    text = inspect.cleandoc(model.__dict__.get("__doc__") or "") + "\n"
    parts = _PARAMETERS.split(text, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _plain(text: str) -> str:
    """Return running text: paragraphs stay, lines do not; double backticks are reStructuredText."""
    paragraphs = [" ".join(part.split()) for part in text.replace("``", "`").strip().split("\n\n")]
    return "\n\n".join(paragraphs)
