"""The answers of each route: ours when all is well, ours when not, and the gateway's own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from jobqueue.api.problems import KINDS
from jobqueue.errors import TooManyRequests, Unavailable
from openapi.answers import ANSWERS, RETRY_AFTER, Success
from openapi.examples import Example
from openapi.problems import Refusal, component, one_of, refusals
from openapi.routes import Route
from openapi.schemas import Schema, reference
from openapi.text import GATEWAY

JSON = "application/json"
PROBLEM = "application/problem+json"

_EVERYWHERE = {429, 500, 503}
_WITH_CREDENTIAL = {401, 403}


class Responses:
    """Writes responses; those of several routes are written once, and referred to.

    Parameters
    ----------
    examples : tuple of Example
        What was answered to what.
    """

    def __init__(self, examples: tuple[Example, ...]) -> None:
        self._examples = examples
        self.shared: dict[str, Schema] = {}

    def of_route(self, route: Route) -> dict[str, Schema]:
        """Return the responses of a route, by status."""
        refused = refusals(route)
        gateway = _EVERYWHERE | _WITH_CREDENTIAL
        gateway |= ({413} if route.body else set()) | ({404} if route.in_path else set())
        successes = {str(int(one.status)): self._success(route, one) for one in ANSWERS[route.function]}
        others = {
            str(status): self._share(status, refused.get(status, ()), status in gateway)
            for status in sorted(refused.keys() | gateway)
        }
        return {**successes, **others}

    def of_page(self) -> dict[str, Schema]:
        """Return what is answered instead of a page."""
        return {str(status): self._share(status, (), True) for status in sorted(_EVERYWHERE)}

    def problem_examples(self) -> dict[str, Schema]:
        """Return one example of each refusal, by its name."""
        return {
            one.problem: {"summary": one.summary, "value": one.answer}
            for one in sorted(self._examples, key=lambda example: example.problem)
            if one.problem
        }

    def _success(self, route: Route, success: Success) -> Schema:
        response: Schema = {"description": success.description}
        if success.headers:
            response["headers"] = {name: {"required": True, **told} for name, told in success.headers.items()}
        if success.body is None:
            return response
        examples = {
            one.name: {"summary": one.summary, "value": one.answer}
            for one in self._examples
            if (one.function, one.status) == (route.function, success.status)
        }
        response["content"] = {JSON: {"schema": reference(success.body), "examples": examples}}
        return response

    def _share(self, status: int, refused: tuple[Refusal, ...], gateway: bool) -> Schema:
        names = [component(KINDS[error]).removesuffix("Problem") for error in refused]
        if gateway:
            names.append(f"Gateway{status}")  # its phrase is another one in each Python
        name = "Or".join(names)
        self.shared[name] = _refusal(refused, GATEWAY[status] if gateway else None)
        return {"$ref": f"#/components/responses/{name}"}


def _refusal(refused: tuple[Refusal, ...], gateway: str | None) -> Schema:
    content: dict[str, Any] = {}
    lines = []
    if refused:
        slugs = [KINDS[error].slug for error in refused]
        examples = {slug: {"$ref": f"#/components/examples/{slug}"} for slug in slugs}
        content[PROBLEM] = {"schema": one_of(*refused), "examples": examples}
        lines += [f"- `{KINDS[error].slug}`: {_meaning(error)}" for error in refused]
    if gateway:
        content[JSON] = {"schema": {"$ref": "#/components/schemas/GatewayMessage"}}
        lines.append(f"- from the gateway: {gateway}.")
    response: Schema = {"description": "\n".join(lines), "content": content}
    if not {TooManyRequests, Unavailable}.isdisjoint(refused):
        response["headers"] = RETRY_AFTER
    return response


def _meaning(error: Refusal) -> str:
    return str(error()) if KINDS[error].status < HTTPStatus.INTERNAL_SERVER_ERROR else "Something went wrong."
