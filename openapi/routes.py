"""The routes of the API, as the functions declare them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

from jobqueue.api.app import HttpFunction

FUNCTIONS = Path(__file__).parents[1] / "functions"

_NAMES_IN_PATHS = {"job_id": "id"}
"""Parameters of paths that template.yaml calls otherwise than the functions do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route.

    Attributes
    ----------
    function : str
        The function's folder.
    method, path : str
        As template.yaml has them; the method in lower case.
    summary, description : str
        What it does and what it answers, for people.
    app : HttpFunction
        Its checks.
    body, query : type or None
        The models that its requests must fit.
    in_path : tuple of str
        The names of the parameters of its path.
    """

    function: str
    method: str
    path: str
    summary: str
    description: str
    app: HttpFunction
    body: type[BaseModel] | None
    query: type[BaseModel] | None
    in_path: tuple[str, ...]


def routes() -> tuple[Route, ...]:
    """Return the routes of all functions that are made by `http_function`, by path."""
    # importing the others would open what they need; a test compares with the routes of template.yaml
    apps = [file for file in FUNCTIONS.glob("*/app.py") if "http_function(" in file.read_text("utf-8")]
    found = [route for file in apps for route in _routes(file.parent.name)]
    return tuple(sorted(found, key=lambda route: (route.path, route.method)))


def _routes(function: str) -> Iterator[Route]:
    module = import_module(f"functions.{function}.app")
    app: HttpFunction = module.app
    summary = (module.__doc__ or "").strip().partition(":")[2]
    for declared in (*app._static_routes, *app._dynamic_routes):
        dependant = declared.dependant
        models = [
            parameters[0].field_info.annotation if parameters else None
            for parameters in (dependant.body_params, dependant.query_params)
        ]
        in_path = [_NAMES_IN_PATHS.get(parameter.name, parameter.name) for parameter in dependant.path_params]
        path = declared.openapi_path
        for name, written in _NAMES_IN_PATHS.items():
            path = path.replace(f"{{{name}}}", f"{{{written}}}")
        yield Route(
            function=function,
            method=declared.method.lower(),
            path=path,
            summary=_sentence(summary),
            description=_sentence(inspect.getdoc(declared.func) or ""),
            app=app,
            body=models[0],
            query=models[1],
            in_path=tuple(in_path),
        )


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
