"""Processor time to start a function, beside a bare one that imports boto3 and makes a DynamoDB client.

Each start is a process of its own, which measures itself from its first line to its first client; the bare
one is started in between, so that both meet the same machine. The median of the ratios is told.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping

from tests.support.functions import folders
from tests.support.http import ENVIRONMENT
from tests.support.template import ROOT

ROUNDS = 7

_BEGIN = "import time; begun = time.process_time()\n"
_END = "\nprint(time.process_time() - begun)"
_BARE = _BEGIN + "import boto3; boto3.client('dynamodb')" + _END
_FUNCTION = _BEGIN + "import app" + _END

_ENVIRONMENT = {
    **ENVIRONMENT,
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_LAMBDA_FUNCTION_NAME": "bench",
    "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",  # the functions then open the queue as they start
    "POWERTOOLS_SERVICE_NAME": "jobqueue",
    "POWERTOOLS_METRICS_NAMESPACE": "jobqueue",
    "WORKER_QUEUES": "default",
    "WORKER_CONCURRENCY": "10",
    "MAX_WORKERS": "1",
}


def ratios() -> dict[str, float]:
    """Return the ratio of every function, by its folder."""
    return {name: _ratio(name) for name in sorted(folders())}


def _ratio(name: str) -> float:
    environment = _environment(name)
    _seconds(_FUNCTION, environment)  # writes the bytecode
    return statistics.median(
        _seconds(_FUNCTION, environment) / _seconds(_BARE, environment) for _ in range(ROUNDS)
    )


def _environment(name: str) -> Mapping[str, str]:
    paths = (ROOT / "functions" / name, ROOT / "layers/jobqueue", ROOT / "layers/jobtypes")
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return {**_ENVIRONMENT, **path}


def _seconds(program: str, environment: Mapping[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(environment),
    )
    return float(done.stdout.splitlines()[-1])
