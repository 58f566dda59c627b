"""Writes the document anew, and before it the answers of its examples: ``make openapi``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from jobtypes import JOB_TYPES
from openapi.document import document
from openapi.examples import read_examples, write_examples
from openapi.routes import FUNCTIONS, routes

FILE = FUNCTIONS / "show_openapi" / "openapi.json"


def text() -> str:
    """Return the document as it is now, as the file has it."""
    described = document(routes(), JOB_TYPES, read_examples())
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def main(file: Path = FILE) -> None:
    """Write the files."""
    # the examples are played on an emulator of DynamoDB, which takes any credential
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    from tests.support.examples import played

    write_examples(played(read_examples()))
    file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
