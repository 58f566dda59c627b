"""`sam build` and `sam deploy` of the repository's own template, to the emulator."""

from __future__ import annotations

import fcntl
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from local.child import run
from local.environment import REGION, without_aws
from local.paths import BUILD, CACHE, ROOT, TEMPLATE, WORK
from local.stack import STACK_NAME
from local.stop import Stop

ON_A_LAPTOP = {
    "SenderAddress": "jobqueue@example.com",  # the emulator keeps the emails to itself
    "WebhookAllowLoopback": "true",  # receivers are on this machine as well
}


class Sam:
    """Runs AWS SAM's command line so that it can reach the emulator and nothing else.

    Parameters
    ----------
    endpoint : str
        Where the emulator answers.
    temporary : Path
        A folder for what SAM writes beside the build.
    parameters : mapping of str to str
        Values for parameters of the template.
    """

    def __init__(self, endpoint: str, temporary: Path, parameters: Mapping[str, str]) -> None:
        self._temporary = temporary
        self._parameters = {"Architecture": architecture(), **ON_A_LAPTOP, **parameters}
        self._config = temporary / "samconfig.toml"
        self._config.write_text("version = 0.1\n")  # the deployer's own is for their account
        self._environment = without_aws(temporary) | {
            "AWS_ENDPOINT_URL": endpoint,
            "LAYER_TARGET": "local",  # the layers' makefiles: for the python3 on PATH
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "SAM_CLI_TELEMETRY": "0",
            "SAM_CLI_POLL_DELAY": "0.5",
            "__SAM_CLI_APP_DIR": str(temporary / "sam"),  # else it writes to the home folder
        }

    def build(self, stop: Stop) -> None:
        """Build the layers for the interpreter that runs this, which is also the emulator's."""
        arguments = [
            "build",
            *("--template-file", str(TEMPLATE)),
            *("--build-dir", str(BUILD)),
            *("--cache-dir", str(CACHE)),
            "--cached",  # a layer whose folder has not changed is not built again
            "--parallel",
            *self._overrides(),
        ]
        self._run("sam build", arguments, stop)

    def deploy(self, stop: Stop) -> None:
        """Deploy what was built."""
        arguments = [
            "deploy",
            *("--template-file", str(BUILD / "template.yaml")),
            *("--stack-name", STACK_NAME),
            *("--capabilities", "CAPABILITY_IAM"),
            "--resolve-s3",
            "--no-confirm-changeset",
            "--no-progressbar",
            *self._overrides(),
        ]
        self._run("sam deploy", arguments, stop)

    def _overrides(self) -> list[str]:
        pairs = [f"{name}={value}" for name, value in self._parameters.items()]
        return ["--parameter-overrides", *pairs]

    def _run(self, step: str, arguments: Sequence[str], stop: Stop) -> None:
        shared = ["--config-file", str(self._config), "--region", REGION]
        run(
            step,
            ["samcli", *arguments, *shared],
            stop,
            environment=self._environment,
            folder=ROOT,
            output=self._temporary / f"{step.replace(' ', '-')}.log",
        )


def architecture() -> str:
    """Return the name that Lambda has for this machine's processor."""
    return "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x86_64"


@contextmanager
def building(stop: Stop) -> Iterator[None]:
    """Keep the build folder to ourselves: several stacks may be brought up at once."""
    WORK.mkdir(exist_ok=True)
    with (WORK / "build.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                stop.sleep(0.1)
        yield
