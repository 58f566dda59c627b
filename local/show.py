"""What `make up` prints."""

from __future__ import annotations

import shlex
import sys
import time

from local.curl import SETTINGS, commands
from local.environment import ACCESS_KEY, REGION, SECRET_KEY
from local.paths import LIBRARY
from local.state import State


class Progress:
    """Says what is being done and how long it took."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def say(self, doing: str) -> None:
        """Print what comes next, with the seconds since the beginning."""
        print(f"[{time.monotonic() - self._began:5.1f} s] {doing}", flush=True)


def text(state: State) -> str:
    """Return what to tell about a running stack: the URL, the keys, and commands to paste."""
    lines = [
        "",
        "jobqueue is up.",
        "",
        "# Paste these into another terminal: the address, and one key per role.",
        f"API={shlex.quote(state.url)}",
        *(f"{role.upper()}={shlex.quote(key)}" for role, key in state.keys.items()),
        SETTINGS,
        "",
        f"# The console, for a browser; sign in with one of the keys: {state.url}/console",
        "",
        "# The life of a job, one command after another: once through, beginning with an empty queue.",
    ]
    for command in commands(state.routes):
        lines += ["", f"# {command.comment}", command.text]
    lines += [
        "",
        "# More keys; and any tool of AWS, in a shell of its own with these settings.",
        f"export AWS_ENDPOINT_URL={state.endpoint} AWS_DEFAULT_REGION={REGION}",
        f"export AWS_ACCESS_KEY_ID={ACCESS_KEY} AWS_SECRET_ACCESS_KEY={SECRET_KEY}",
        f"export API_KEYS_TABLE={shlex.quote(state.outputs['ApiKeysTableName'])}",
        f"export PYTHONPATH={shlex.quote(str(LIBRARY))}",
        f"{shlex.quote(sys.executable)} -m jobqueue.keys list",
        "",
        f"The emulator's log: {state.log}",
        "Ctrl-C ends it all, and forgets every job.",
    ]
    return "\n".join(lines)
