"""Brings up the stack, stays until it is told to end, and leaves nothing behind."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from local import ministack, state
from local.access import create_keys, verify_sender
from local.aws import connect
from local.child import Child
from local.deploy import Sam, building
from local.failure import StackFailed, Stopped
from local.paths import ROOT, STATE
from local.ports import require_free_port
from local.routes import create_routes
from local.show import Progress, text
from local.stack import describe
from local.state import State
from local.stop import Stop


def main() -> int:
    """Run until told to end; return the exit code."""
    options = arguments()
    stop = Stop()
    stop.listen()
    temporary = Path(tempfile.mkdtemp(prefix="jobqueue-local-"))
    try:
        up(options, stop, temporary)
    except Stopped:
        print("\nStopped; cleaning up.", flush=True)
        return 0
    except StackFailed as failure:
        print("\n".join(part for part in (failure.output, f"error: {failure}") if part), file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"error: the emulator refused a call: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def up(options: argparse.Namespace, stop: Stop, temporary: Path) -> NoReturn:
    """Bring up the stack and stay until something ends it.

    Raises
    ------
    Stopped, StackFailed
        One of the two ends it; the emulator has ended by then.
    """
    require_free_port(options.port)
    progress = Progress()
    progress.say(f"Starting MiniStack on port {options.port}")
    with ministack.start(options.port, temporary, ROOT) as emulator:
        running = bring_up(options, stop, temporary, progress, emulator)
        with state.published(running, options.state):
            progress.say("Ready")
            print(text(running), flush=True)
            while True:
                ministack.require_alive(emulator)
                stop.sleep(0.2)


def bring_up(
    options: argparse.Namespace, stop: Stop, temporary: Path, progress: Progress, emulator: Child
) -> State:
    """Build, deploy, and make usable."""
    endpoint = f"http://{ministack.ADDRESS}:{options.port}"
    sam = Sam(endpoint, temporary, dict(options.parameter))
    aws = connect(endpoint)
    with building(stop):
        progress.say("Building the layers (sam build)")
        sam.build(stop)
        ministack.wait_until_healthy(emulator, options.port, stop)
        progress.say("Deploying template.yaml (sam deploy)")
        sam.deploy(stop)
    ministack.require_alive(emulator)
    progress.say("Making the routes and one key per role")
    stack = describe(aws)
    api = create_routes(aws, stack)
    verify_sender(aws, stack)
    return State(
        url=f"http://localhost:{options.port}/_aws/execute-api/{api.id}",
        endpoint=endpoint,
        keys=create_keys(endpoint, stack.outputs["ApiKeysTableName"], temporary),
        routes=sorted(api.routes),
        outputs=dict(stack.outputs),
        resources=dict(stack.resources),
        log=str(emulator.output),
        pid=os.getpid(),
        emulator_pid=emulator.pid,
    )


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument(
        "--port",
        type=port,
        default=os.environ.get("PORT") or "4566",
        help="where to listen on the loopback address (default: $PORT, else 4566)",
    )
    parser.add_argument(
        "--state", type=Path, default=STATE, help="where to write the URL, the keys and the names"
    )
    parser.add_argument(
        "--parameter",
        type=parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value for a parameter of template.yaml; may be repeated",
    )
    return parser.parse_args(given)


def port(text: str) -> int:
    """Return a port number."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"PORT must be a number from 1 to 65535, not {text!r}")
    return int(text)


def parameter(text: str) -> tuple[str, str]:
    """Return a name and a value."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, value


if __name__ == "__main__":
    sys.exit(main())
