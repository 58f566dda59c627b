"""The functions of the deployment, as the folders of functions/ and as template.yaml have them."""

from __future__ import annotations

from tests.support.template import ROOT, Template, resources


def folders() -> set[str]:
    """Return the names of the folders in functions/ that are functions."""
    return {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def declared() -> dict[str, Template]:
    """Return the properties of every function of template.yaml, by the name of its folder."""
    return {
        function["Properties"]["CodeUri"].removeprefix("functions/").strip("/"): function["Properties"]
        for function in resources("AWS::Serverless::Function").values()
    }


def logical_id(name: str) -> str:
    """Return what template.yaml calls the function in the folder `name`, without its ending."""
    return "".join(word.capitalize() for word in name.split("_"))
