"""The operations that need no credential, and answer the same to everybody."""

from __future__ import annotations

from typing import Any


def _page(
    function: str, summary: str, description: str, media_type: str, schema: dict[str, Any]
) -> dict[str, Any]:
    return {
        "operationId": function,
        "tags": ["Pages"],
        "summary": summary,
        "description": description,
        "security": [],
        "responses": {"200": {"description": summary, "content": {media_type: {"schema": schema}}}},
    }


PAGES: dict[str, dict[str, Any]] = {
    "/console": _page(
        "show_console",
        "The page for operators.",
        "It asks for a key and calls this API with it.",
        "text/html",
        {"type": "string"},
    ),
    "/openapi.json": _page(
        "show_openapi",
        "This document.",
        "The description of the API, as OpenAPI 3.1.",
        "application/json",
        {
            "type": "object",
            "required": ["openapi", "info", "paths", "components"],
            "properties": {"openapi": {"const": "3.1.0"}},
        },
    ),
}
