"""The tables survive what happens to a stack, and the index shows what a lane needs and no more."""

from __future__ import annotations

import pytest

from tests.support.template import Template, resources, template

TABLES = resources("AWS::DynamoDB::Table")
COUNTS_ONLY = "CallersTable"
"""Nothing in it matters a minute later, and it is there only where callers are limited."""
KEPT = TABLES.keys() - {COUNTS_ONLY}

# A projection cannot be changed on a live table. What a heartbeat writes (lease_expires_at, progress) is not
# in it, or a heartbeat would cost a write to the index as well.
PROJECTED = {
    *("status", "queue", "type", "priority", "retry_count", "max_retries", "created_at", "created_by"),
    *("claimed_at", "worker_id", "finished_at", "available_at", "rev"),
}


def jobs() -> Template:
    properties: Template = TABLES["JobsTable"]["Properties"]
    return properties


def test_there_are_no_other_tables() -> None:
    assert TABLES.keys() == {"JobsTable", "ApiKeysTable", "QueuesTable", COUNTS_ONLY}


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_table_outlives_its_stack_and_can_be_restored(name: str) -> None:
    table = TABLES[name]
    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_callers_have_a_table_only_where_they_are_limited_and_it_goes_with_the_stack() -> None:
    table = TABLES[COUNTS_ONLY]
    assert table["Condition"] == "ThrottlesCallers"
    assert not table.keys() & {"DeletionPolicy", "UpdateReplacePolicy"}
    assert "PointInTimeRecoverySpecification" not in table["Properties"]
    assert {one["Condition"] for name, one in TABLES.items() if "Condition" in one} == {"ThrottlesCallers"}


def test_counts_of_callers_go_by_themselves() -> None:
    properties = TABLES[COUNTS_ONLY]["Properties"]
    assert properties["KeySchema"] == [{"AttributeName": "caller", "KeyType": "HASH"}]
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_costs_nothing_idle(name: str) -> None:
    assert TABLES[name]["Properties"]["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_can_be_replaced(name: str) -> None:
    assert "TableName" not in TABLES[name]["Properties"], "a fixed name stands in the way of a second stack"


def test_a_job_is_found_by_its_id_alone() -> None:
    assert jobs()["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]


def test_the_one_index_is_lanes() -> None:
    (index,) = jobs()["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "lanes"
    assert index["KeySchema"] == [
        {"AttributeName": "lane", "KeyType": "HASH"},
        {"AttributeName": "lane_order", "KeyType": "RANGE"},
    ]


def test_the_projection_is_held() -> None:
    (index,) = jobs()["GlobalSecondaryIndexes"]
    assert index["Projection"]["ProjectionType"] == "INCLUDE"
    assert set(index["Projection"]["NonKeyAttributes"]) == PROJECTED


def test_finished_jobs_go_by_themselves() -> None:
    assert jobs()["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_changes_are_streamed_with_what_was_before() -> None:
    assert jobs()["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_a_key_is_found_by_its_hash_alone() -> None:
    assert TABLES["ApiKeysTable"]["Properties"]["KeySchema"] == [
        {"AttributeName": "key_hash", "KeyType": "HASH"}
    ]


def test_a_queue_is_found_by_its_name_alone() -> None:
    assert TABLES["QueuesTable"]["Properties"]["KeySchema"] == [{"AttributeName": "queue", "KeyType": "HASH"}]


def test_the_stack_tells_what_a_deployer_needs() -> None:
    assert template()["Outputs"].keys() == {
        *("ApiUrl", "JobsTableName", "ApiKeysTableName", "QueuesTableName"),
        *("EventBusName", "WebhookSecretArn"),
    }
