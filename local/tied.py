"""Runs a module that ends with the process that started it, even when that one is killed outright.

``python -m local.tied FD FOLDER MODULE ARGUMENTS...``: FD is the reading end of a pipe whose other
end the parent holds open. Nothing is ever written to it; it reads as closed when the parent is gone.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import threading

# Run by a process of its own, since the one that starts it is among those that it ends.
SWEEP = """
import os, shutil, signal, sys, time
try:
    os.killpg(int(sys.argv[1]), signal.SIGKILL)
except OSError:
    pass
time.sleep(0.2)
if sys.argv[2]:
    shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


def main() -> None:
    """Watch the pipe and become the module."""
    lifeline, folder, module = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    threading.Thread(target=watch, args=(lifeline, folder), daemon=True).start()
    sys.argv = sys.argv[3:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def watch(lifeline: int, folder: str) -> None:
    """Wait for the parent's end, then end this process group and remove the folder."""
    os.read(lifeline, 1)
    subprocess.Popen(
        [sys.executable, "-c", SWEEP, str(os.getpgrp()), folder],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    main()
