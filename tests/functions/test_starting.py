"""What a function loads as it starts: what its requests need, and no more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.template import ROOT


@pytest.mark.parametrize(
    ("function", "is_loaded"), [("fail_job", True), ("complete_job", False), ("list_queues", False)]
)
def test_only_who_is_told_errors_loads_what_cleans_them(function: str, is_loaded: bool) -> None:
    code = f"import sys, functions.{function}.app; print('jobqueue.redact' in sys.modules)"
    path = os.pathsep.join([".", "layers/jobqueue", "layers/jobtypes"])
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(is_loaded)
