"""The authorizer's function, as the gateway calls it."""

from __future__ import annotations

import copy
import importlib
import json
from types import SimpleNamespace
from typing import Any

import pytest

from jobqueue.authorizer import Authorizer
from jobqueue.keys import open_keys_table
from tests.support.issuer import Issuer, verifier_of
from tests.support.keys import KeysBench
from tests.support.log import captured_log
from tests.support.template import ROOT

EVENT = json.loads((ROOT / "events" / "authorize_request.json").read_text(encoding="utf-8"))
REFUSED = {"isAuthorized": False, "context": {}}


def event(header: Any, name: str = "authorization") -> dict[str, Any]:
    asked: dict[str, Any] = copy.deepcopy(EVENT)
    asked["headers"] = {name: header, "host": "example.com"}
    asked["identitySource"] = [header]
    return asked


class Function:
    """The function as it is deployed, on the bench's table, with the bench's clock."""

    def __init__(self, bench: KeysBench, module: Any) -> None:
        self._module = module
        self.log = ""
        self._keys = open_keys_table(bench.client, bench.table)
        self._clock = bench.clock
        module.authorizer = Authorizer(self._keys, bench.clock)

    def __call__(self, asked: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        with captured_log() as logged:
            try:
                answer = self._module.lambda_handler(asked, SimpleNamespace(aws_request_id="r1"))
            finally:
                self.log += logged()
        json.dumps(answer)  # the runtime writes it so
        return answer

    def take_tokens_of(self, issuer: Issuer) -> None:
        self._module.authorizer = Authorizer(self._keys, self._clock, jwts=verifier_of(issuer))

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines()]


@pytest.fixture
def function(bench: KeysBench, monkeypatch: pytest.MonkeyPatch) -> Function:
    monkeypatch.setenv("API_KEYS_TABLE", bench.table)
    module = importlib.import_module("functions.authorize_request.app")
    return Function(bench, module)
