"""The authorizer, as the gateway calls it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobqueue.api.caller import read_caller
from jobqueue.authorizer import Authorizer
from jobqueue.errors import Unavailable
from jobqueue.keys import KeysTable, hash_key
from tests.support.authorizing import EVENT, REFUSED, Function, event, function
from tests.support.keys import KeysBench, bench, keys_table
from tests.support.template import ROOT

__all__ = ["bench", "function", "keys_table"]


def test_a_key_says_who_is_calling(bench: KeysBench, function: Function) -> None:
    key = bench.keyring.create("shop", role="producer", queues=["web", "mail"], max_priority="high")
    assert function(event(f"Bearer {key}")) == {
        "isAuthorized": True,
        "context": {
            "principal": "key:shop",
            "role": "producer",
            "queues": "mail,web",
            "max_priority": "high",
        },
    }


@pytest.mark.parametrize("role", ["producer", "worker", "admin"])
@pytest.mark.parametrize("queues", [["*"], ["a"], ["b", "a-1", "c_2"]])
def test_every_function_reads_the_same_caller_from_it(
    bench: KeysBench, function: Function, role: str, queues: list[str]
) -> None:
    key = bench.keyring.create("shop", role=role, queues=queues)
    context = function(event(f"Bearer {key}"))["context"]
    assert all(isinstance(value, str) for value in context.values())
    found = bench.find(key)
    assert found is not None
    assert read_caller({"requestContext": {"authorizer": {"lambda": context}}}) == found.principal


@pytest.mark.parametrize("name", ["authorization", "Authorization"])
def test_the_header_in_both_its_cases(bench: KeysBench, function: Function, name: str) -> None:
    key = bench.keyring.create("shop", role="producer")
    assert function(event(f"Bearer {key}", name))["isAuthorized"] is True


def test_the_example_event_is_answered(function: Function) -> None:
    assert function(EVENT) == REFUSED


def test_the_answer_is_the_same_on_every_route(bench: KeysBench, function: Function) -> None:
    asked = event("Bearer " + bench.keyring.create("shop", role="producer"))
    other = {**asked, "routeKey": "POST /jobs/claim", "rawPath": "/jobs/claim"}
    assert function(asked) == function(other)


@pytest.mark.parametrize(
    ("credential", "outcome"),
    [
        ("Bearer jq_" + "x" * 43, "unknown-key"),
        ("Bearer jq_" + "x" * 42, "unknown-kind"),
        ("Bearer jq_" + "x" * 44, "unknown-kind"),
        ("Bearer JQ_" + "x" * 43, "unknown-kind"),
        ("Bearer a.b.c", "unknown-kind"),
        ("Bearer name#shop", "no-bearer-token"),
        ("Basic dXNlcjpwYXNz", "no-bearer-token"),
        ("", "no-bearer-token"),
        (None, "no-bearer-token"),
        ("Bearer \ud83d", "no-bearer-token"),
        ("Bearer " + "é" * 9000, "no-bearer-token"),
    ],
)
def test_what_is_no_good_key_is_refused(
    bench: KeysBench, function: Function, credential: Any, outcome: str
) -> None:
    bench.keyring.create("shop", role="producer")
    assert function(event(credential)) == REFUSED
    assert [line["outcome"] for line in function.lines()] == [outcome]


def test_a_key_that_is_over_is_refused(bench: KeysBench, function: Function) -> None:
    key = bench.keyring.create("shop", role="producer", expires_in_days=1)
    asked = event(f"Bearer {key}")
    bench.clock.pass_time(hours=23, minutes=59, seconds=59)
    assert function(asked)["isAuthorized"] is True
    bench.clock.pass_time(seconds=1)
    assert function(asked) == REFUSED
    new = bench.keyring.rotate("shop")
    assert function(asked) == REFUSED
    bench.keyring.revoke("shop")
    assert function(event(f"Bearer {new}")) == REFUSED
    outcomes = [line["outcome"] for line in function.lines()]
    assert outcomes == ["ok", "expired-key", "revoked-key", "revoked-key"]


def test_an_odd_item_is_refused(bench: KeysBench, function: Function) -> None:
    key = bench.keyring.create("shop", role="producer")
    bench.client.update_item(
        TableName=bench.table,
        Key={"key_hash": {"S": hash_key(key)}},
        UpdateExpression="SET #r = :r",
        ExpressionAttributeNames={"#r": "role"},
        ExpressionAttributeValues={":r": {"S": "root"}},
    )
    assert function(event(f"Bearer {key}")) == REFUSED
    assert function.lines()[-1]["outcome"] == "corrupt-key"


@pytest.mark.parametrize("odd", [{}, {"headers": None}, {"headers": 7, "requestContext": "x"}])
def test_an_odd_event_is_refused(function: Function, odd: dict[str, Any]) -> None:
    assert function(odd) == REFUSED


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=st.one_of(st.text(), st.text().map("Bearer {}".format), st.binary(), st.none(), st.integers()))
def test_nothing_that_is_sent_is_an_exception(function: Function, header: Any) -> None:
    assert function(event(header)) == REFUSED


class SilentTable:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            raise self._error

        return call


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "GetItem"),
        ClientError({"Error": {"Code": "InternalServerError"}}, "GetItem"),
        ReadTimeoutError(endpoint_url="https://dynamodb"),
    ],
)
def test_a_table_that_does_not_answer_is_no_refusal(
    bench: KeysBench, function: Function, error: Exception
) -> None:
    # A refusal would be remembered by the gateway; an error is a 500 that is not.
    client: Any = SilentTable(error)
    function._module.authorizer = Authorizer(KeysTable(client, bench.table), bench.clock)
    with pytest.raises(Unavailable):
        function(event("Bearer jq_" + "x" * 43))
    assert [line["outcome"] for line in function.lines()] == ["unavailable"]


def test_a_decision_is_one_line_that_tells_who_and_how(bench: KeysBench, function: Function) -> None:
    key = bench.keyring.create("shop", role="producer")
    function(event(f"Bearer {key}"))
    (line,) = function.lines()
    assert line["action"] == "authorize_request"
    assert line["outcome"] == "ok"
    assert line["principal"] == "key:shop"
    assert line["request_id"] == EVENT["requestContext"]["requestId"]


def test_one_call_leaves_nothing_in_the_lines_of_the_next(bench: KeysBench, function: Function) -> None:
    function(event("Bearer " + bench.keyring.create("shop", role="producer")))
    function(event("Bearer jq_" + "x" * 43))
    first, second = function.lines()
    assert first["principal"] == "key:shop"
    assert "principal" not in second


@pytest.mark.parametrize(
    "header", ["Bearer {}", "Basic {}", "{}", "Bearer {} {}", "Bearer {}\x00", "Bearer é{}"]
)
def test_no_credential_is_logged(bench: KeysBench, function: Function, header: str) -> None:
    good = bench.keyring.create("shop", role="producer")
    for canary in (good, "jq_CANARY" + "x" * 37, "CANARY"):
        function(event(header.replace("{}", canary)))
        assert function.lines()
        assert "CANARY" not in function.log
        assert canary not in function.log
        assert hash_key(canary) not in function.log


def test_a_key_costs_one_consistent_read(bench: KeysBench, function: Function) -> None:
    key = bench.keyring.create("shop", role="producer")
    seen: list[Any] = []

    def record(params: Any, **_: Any) -> None:
        seen.append(params)

    hooks: Any = bench.client.meta.events
    hooks.register("provide-client-params.dynamodb.*", record)
    try:
        function(event(f"Bearer {key}"))
        function(event("Bearer no-key-at-all"))
    finally:
        hooks.unregister("provide-client-params.dynamodb.*", record)
    assert seen == [
        {"TableName": bench.table, "Key": {"key_hash": {"S": hash_key(key)}}, "ConsistentRead": True}
    ]


def test_a_cold_start_does_not_import_what_it_does_not_need() -> None:
    program = "import functions.authorize_request.app, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={
            "PYTHONPATH": f"{ROOT / 'layers' / 'jobqueue'}:{ROOT}",
            "API_KEYS_TABLE": "keys",
            "AWS_DEFAULT_REGION": "eu-central-1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    heavy = {"pydantic", "jwt", "argparse", "jobqueue.queue", "jobqueue.table"}
    assert loaded & heavy == set()
    assert not any(name.startswith(("jobqueue.api", "jobqueue.keys.__main__")) for name in loaded)
