"""How an update is worded, and what the failures of DynamoDB mean."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from jobqueue.dynamodb import ConditionFailed, Update, faults, make_client, names
from jobqueue.errors import Unavailable

ENDPOINT = "https://dynamodb.example"


def client_error(code: str, status: int = 400, **more: Any) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        **more,
    }
    return ClientError(response, "UpdateItem")


def raised(error: Exception) -> None:
    with faults():
        raise error


def test_an_update_binds_every_name_and_value() -> None:
    request = Update(
        key={"id": "job_1"},
        conditions=("#status = :running", "#lease_token = :token"),
        values={"running": "running", "token": "REMOVE #id"},
        sets={"status": "completed", "result": None, "finished_at": "now"},
        copies={"lane": "lane_done"},
        appends={"marks": "complete:t:d"},
        counts=("rev",),
        removes=("lease_expires_at", "progress", "lease_expires_at"),
    ).request()
    assert request["Key"] == {"id": {"S": "job_1"}}
    assert request["ConditionExpression"] == "#status = :running AND #lease_token = :token"
    assert request["UpdateExpression"] == (
        "SET #status = :status, #finished_at = :finished_at, #lane = #lane_done, #rev = #rev + :one,"
        " #marks = list_append(if_not_exists(#marks, :empty), :more_marks)"
        " REMOVE #lease_expires_at, #progress"
    )
    assert request["ExpressionAttributeValues"] == {
        ":running": {"S": "running"},
        ":token": {"S": "REMOVE #id"},
        ":status": {"S": "completed"},
        ":finished_at": {"S": "now"},
        ":one": {"N": "1"},
        ":empty": {"L": []},
        ":more_marks": {"L": [{"S": "complete:t:d"}]},
    }
    used = set(request["ExpressionAttributeNames"])
    assert used == {
        *("#status", "#lease_token", "#finished_at", "#lane", "#lane_done", "#rev", "#marks"),
        *("#lease_expires_at", "#progress"),
    }


def test_an_update_asks_for_the_item_whatever_happens() -> None:
    request = Update(key={}, conditions=("#a = :a",), values={"a": 1}, sets={"b": 2}).request()
    assert request["ReturnValues"] == "ALL_NEW"
    assert request["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"
    assert request["UpdateExpression"] == "SET #b = :b"


def test_a_condition_may_use_a_value_that_is_set() -> None:
    update = Update(key={}, conditions=("#lease <= :lease",), values={}, sets={"lease": "later"})
    request = update.request()
    assert request["ExpressionAttributeValues"] == {":lease": {"S": "later"}}


def test_names_are_told_once_each() -> None:
    assert names("#a = :a AND #b <> :a OR #a > :c") == {"#a": "a", "#b": "b"}


def test_a_refusal_brings_the_item_that_was_found() -> None:
    item = {"id": {"S": "job_1"}}
    with pytest.raises(ConditionFailed) as failed:
        raised(client_error("ConditionalCheckFailedException", Item=item))
    assert failed.value.item == item


def test_a_refusal_may_find_no_item() -> None:
    with pytest.raises(ConditionFailed) as failed:
        raised(client_error("ConditionalCheckFailedException"))
    assert failed.value.item is None


@pytest.mark.parametrize(
    "error",
    [
        client_error("ProvisionedThroughputExceededException"),
        client_error("ThrottlingException"),
        client_error("RequestLimitExceeded"),
        client_error("TransactionConflictException"),
        client_error("InternalServerError", 500),
        client_error("SomethingNew", 503),
        ConnectTimeoutError(endpoint_url=ENDPOINT),
        ReadTimeoutError(endpoint_url=ENDPOINT),
        EndpointConnectionError(endpoint_url=ENDPOINT),
    ],
    ids=str,
)
def test_what_passes_by_itself_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable) as unavailable:
        raised(error)
    assert unavailable.value.__cause__ is error


@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"]
)
def test_what_will_not_pass_is_not_hidden(code: str) -> None:
    with pytest.raises(ClientError, match=code):
        raised(client_error(code))


def test_an_answer_without_a_code_is_not_hidden() -> None:
    with pytest.raises(ClientError):
        raised(ClientError({}, "UpdateItem"))


def test_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        raised(ZeroDivisionError())


def test_the_client_gives_up_before_the_function_does() -> None:
    config: Any = make_client().meta.config
    assert config.retries == {"mode": "standard", "total_max_attempts": 4}
    # with four attempts and at most 1, 2 and 4 seconds of backoff between them
    assert 4 * (config.connect_timeout + config.read_timeout) + 7 < 29
