"""Prepares ``sam local``, which runs functions in Docker: ``python -m local.docker``, after ``make build``.

Needs a DynamoDB of your own. Makes the tables and one API key per role in it, unless they are there, and a
template whose functions find it and run on this machine's processor.
"""

from __future__ import annotations

import argparse
import copy
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from botocore.exceptions import BotoCoreError, ClientError

from local.access import create_keys
from local.aws import connect
from local.failure import StackFailed
from local.paths import ROOT
from local.tables import create_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BUILT = ROOT / ".aws-sam" / "build" / "template.yaml"
PREPARED = BUILT.with_name("docker.yaml")  # beside it, since the paths in it are relative
KEYS_TABLE = "ApiKeysTable"


def main() -> int:
    """Prepare everything, and tell the keys; return the exit code."""
    options = arguments()
    if not BUILT.exists():
        print("error: nothing is built yet: run `make build` first", file=sys.stderr)
        return 1
    template = yaml.safe_load(BUILT.read_text("utf-8"))
    try:
        keys = fill(options.here, template)
    except StackFailed as failure:
        print("\n".join(part for part in (failure.output, f"error: {failure}") if part), file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"error: DynamoDB at {options.here} refused a call: {error}", file=sys.stderr)
        return 1
    for role, key in keys.items():
        print(f"{role.upper()}={key}")
    prepared = yaml.safe_dump(prepare(template, options.there, platform.machine()), sort_keys=False)
    PREPARED.write_text(prepared, "utf-8")
    print(f"# The template for sam local: {PREPARED.relative_to(ROOT)}")
    return 0


def prepare(template: Mapping[str, Any], endpoint: str, machine: str) -> dict[str, Any]:
    """Return `template` with the address of DynamoDB, and for the processor `machine`.

    ``sam local`` gives a function no variable that its template does not declare.
    """
    prepared = copy.deepcopy(dict(template))
    prepared["Globals"]["Function"]["Environment"]["Variables"]["AWS_ENDPOINT_URL_DYNAMODB"] = endpoint
    is_arm = machine.lower() in {"arm64", "aarch64"}
    prepared["Parameters"]["Architecture"]["Default"] = "arm64" if is_arm else "x86_64"
    return prepared


def fill(endpoint: str, template: Mapping[str, Any]) -> dict[str, str]:
    """Make the tables and a key per role that are not there yet, and return the new keys by role."""
    if KEYS_TABLE not in create_tables(connect(endpoint).dynamodb(), template):
        return {}
    with tempfile.TemporaryDirectory() as temporary:
        return create_keys(endpoint, KEYS_TABLE, Path(temporary))


def create_tables(client: DynamoDBClient, template: Mapping[str, Any]) -> set[str]:
    """Make the tables that are not there yet, and return their names.

    They are called as in the template, which is what ``sam local`` makes of a ``Ref`` to a table.
    """
    tables = {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::DynamoDB::Table"
    }
    missing = tables.keys() - set(client.list_tables()["TableNames"])
    for name in missing:
        create_table(client, name, tables[name])
    return set(missing)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(prog="python -m local.docker", description=__doc__)
    parser.add_argument(
        "--here",
        default="http://127.0.0.1:8000",
        metavar="URL",
        help="where this machine finds DynamoDB (default: %(default)s)",
    )
    parser.add_argument(
        "--there",
        default="http://dynamodb:8000",
        metavar="URL",
        help="where the containers find it (default: %(default)s)",
    )
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
