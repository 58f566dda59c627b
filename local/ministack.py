"""The emulator: MiniStack, as a child process that holds everything in memory and in one folder."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

from local.child import Child
from local.environment import without_aws
from local.failure import StackFailed
from local.stop import Stop

ADDRESS = "127.0.0.1"
PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.1
# Named, so that what a shell happens to have set changes nothing.
SETTINGS = {
    "AUTH": "true",  # a function may do what its role grants, and nothing else
    "LOG_LEVEL": "INFO",
    "PERSIST_STATE": "0",
    "S3_PERSIST": "0",
    "SERVICES": "",
    "USE_SSL": "0",
}


def start(port: int, temporary: Path, root: Path) -> Child:
    """Start MiniStack on the loopback address; it is not yet ready to answer.

    It is not told AWS_ENDPOINT_URL: the functions inherit its environment, and it gives them its own
    address when there is none.
    """
    environment = without_aws(temporary) | {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": ADDRESS,  # its default is every interface of the machine
        "STATE_DIR": str(temporary / "state"),
        "S3_DATA_DIR": str(temporary / "s3"),
        "DOCKER_HOST": "unix:///nonexistent/docker.sock",  # nothing here needs it; leave it alone
        **SETTINGS,
    }
    return Child(
        ["ministack"],
        environment=environment,
        folder=root,
        output=temporary / "ministack.log",
        leavings=temporary,
    )


def wait_until_healthy(ministack: Child, port: int, stop: Stop) -> None:
    """Wait until MiniStack answers.

    Raises
    ------
    StackFailed
        If it ends, or does not answer within a minute.
    """
    for _ in range(int(PATIENCE_SECONDS / PAUSE_SECONDS)):
        require_alive(ministack)
        if is_healthy(port):
            return
        stop.sleep(PAUSE_SECONDS)
    raise StackFailed(f"MiniStack did not answer within {PATIENCE_SECONDS} s", ministack.said())


def require_alive(ministack: Child) -> None:
    """Raise `StackFailed`, with the end of MiniStack's log, if it is no longer running."""
    if (code := ministack.exit_code) is not None:
        tail = "\n".join(ministack.said().splitlines()[-30:])
        raise StackFailed(f"MiniStack ended unexpectedly (exit {code})", tail)


def is_healthy(port: int) -> bool:
    """Tell whether MiniStack answers on `port`."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://{ADDRESS}:{port}/_ministack/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
