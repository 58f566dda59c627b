"""A function's start, in a new process."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.template import ROOT


def printed_by(code: str, **environment: str) -> str:
    """Return what `code` prints in a process that has our layers, and no more of an environment than this."""
    path = os.pathsep.join([".", "layers/jobqueue", "layers/jobtypes"])
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1", **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
