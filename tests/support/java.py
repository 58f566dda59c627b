"""Runs Java in a folder: ``python -m tests.support.java FOLDER ARGUMENTS...``.

A module and not the command itself, so that `local.child` can tie it to the process that started it.
"""

from __future__ import annotations

import subprocess
import sys

if __name__ == "__main__":
    sys.exit(subprocess.run(["java", *sys.argv[2:]], check=False, cwd=sys.argv[1]).returncode)
