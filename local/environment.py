"""What the children see: nothing that could lead them to a real AWS account."""

from __future__ import annotations

import os
from pathlib import Path

REGION = "us-east-1"
ACCESS_KEY = "test"
SECRET_KEY = "test"
OTHERS = ("AWS_", "SAM_CLI_", "MINISTACK_", "LOCALSTACK_", "LAMBDA_")
DROPPED = (
    *("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PORT"),  # of the make that runs this, not of the layers' makefiles
    *("PYTHONPATH", "PYTHONPYCACHEPREFIX"),  # bytecode of temporary copies belongs beside them
)


def without_aws(temporary: Path) -> dict[str, str]:
    """Return this process's environment with dummy credentials and no settings of AWS's or ours.

    Parameters
    ----------
    temporary : Path
        Where the children put their temporary files.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OTHERS) and name not in DROPPED
    }
    local = "localhost,127.0.0.1,::1"
    return kept | {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "TMPDIR": str(temporary),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": local,
        "no_proxy": local,
    }
