from __future__ import annotations

import hashlib
import math
import os
from dataclasses import replace
from typing import Any

import pytest

from jobqueue.errors import CorruptKey, InvalidKeyGrant, InvalidSettings, KeyNameTaken, KeyNotFound
from jobqueue.job import JobPriority
from jobqueue.keys import KeyState, create_key, hash_key, is_key
from jobqueue.principal import Principal, Role
from tests.support.keys import START, KeysBench, bench, keys_table

__all__ = ["bench", "keys_table"]


def test_a_key_is_a_prefix_and_256_random_bits(bench: KeysBench) -> None:
    keys = {bench.keyring.create(f"k{number}", role="worker") for number in range(20)}
    assert len(keys) == 20
    assert all(is_key(key) and key.startswith("jq_") and len(key) == 46 for key in keys)


def test_only_the_hash_of_a_key_is_stored(bench: KeysBench) -> None:
    key = bench.keyring.create("shop", role="producer")
    stored = str(bench.items())
    assert key not in stored
    assert key.removeprefix("jq_") not in stored
    assert hashlib.sha256(key.encode()).hexdigest() in stored


def test_a_key_grants_what_was_asked_for(bench: KeysBench) -> None:
    key = bench.keyring.create(
        "shop", role="producer", queues=["mail", "web", "mail"], max_priority="HIGH", expires_in_days=1.5
    )
    found = bench.find(key)
    assert found is not None
    assert found.principal == Principal(
        id="key:shop",
        role=Role.PRODUCER,
        queues=frozenset({"mail", "web"}),
        max_priority=JobPriority.HIGH,
    )
    assert found.created_at == START
    bench.clock.pass_time(hours=35)
    assert found.state(bench.clock()) is KeyState.ACTIVE
    bench.clock.pass_time(hours=1)
    assert found.state(bench.clock()) is KeyState.EXPIRED


@pytest.mark.parametrize(
    ("role", "highest"), [("producer", "medium"), ("worker", "low"), ("admin", "critical")]
)
def test_the_default_of_the_highest_priority(bench: KeysBench, role: str, highest: str) -> None:
    found = bench.find(bench.keyring.create("one", role=role))
    assert found is not None
    assert found.max_priority.value == highest
    assert found.queues == {"*"}
    assert found.expires_at is None


@pytest.mark.parametrize(
    "asked",
    [
        {"name": ""},
        {"name": "Shop"},
        {"name": "a b"},
        {"name": "a#b"},
        {"name": "shop\n"},
        {"name": "ü"},
        {"name": "a" * 65},
        {"role": "root"},
        {"role": ""},
        {"role": "Producer"},
        {"queues": []},
        {"queues": "mail"},
        {"queues": ["mail", "*"]},
        {"queues": ["Mail"]},
        {"queues": ["a,b"]},
        {"queues": ["mail\n"]},
        {"queues": [""]},
        {"queues": ["q" * 65]},
        {"max_priority": "urgent"},
        {"max_priority": ""},
        {"role": "worker", "max_priority": "low"},
        {"expires_in_days": 0},
        {"expires_in_days": -1},
        {"expires_in_days": 3651},
        {"expires_in_days": math.nan},
        {"expires_in_days": math.inf},
    ],
)
def test_what_no_key_can_be_made_of(bench: KeysBench, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidKeyGrant):
        bench.keyring.create(**{"name": "shop", "role": "producer", **asked})
    assert bench.items() == []


@pytest.mark.parametrize("name", ["a", "0", ".", "_-.", "a" * 64, "name"])
def test_names_that_are_fine(bench: KeysBench, name: str) -> None:
    assert bench.works(bench.keyring.create(name, role="admin"))


def test_a_name_is_taken_until_its_key_is_revoked(bench: KeysBench) -> None:
    first = bench.keyring.create("shop", role="producer", expires_in_days=1)
    with pytest.raises(KeyNameTaken, match="shop"):
        bench.keyring.create("shop", role="admin")
    bench.clock.pass_time(days=2)
    with pytest.raises(KeyNameTaken):  # expired, but still somebody's name
        bench.keyring.create("shop", role="admin")
    bench.keyring.revoke("shop")
    second = bench.keyring.create("shop", role="admin")
    assert not bench.works(first)
    assert bench.works(second)


def test_a_revoked_key_stops_at_once_and_says_so(bench: KeysBench) -> None:
    key = bench.keyring.create("shop", role="producer")
    bench.clock.pass_time(hours=1)
    bench.keyring.revoke("shop")
    found = bench.find(key)
    assert found is not None
    assert (found.state(bench.clock()), found.revoked_at) == (KeyState.REVOKED, bench.clock())
    assert bench.keyring.list_keys() == []
    with pytest.raises(KeyNotFound, match="shop"):
        bench.keyring.revoke("shop")


def test_rotating_keeps_name_grants_and_length_of_life(bench: KeysBench) -> None:
    old = bench.keyring.create(
        "shop", role="producer", queues=["mail"], max_priority="critical", expires_in_days=10
    )
    before = bench.find(old)
    bench.clock.pass_time(days=9)
    new = bench.keyring.rotate("shop")
    after = bench.find(new)
    assert before is not None
    assert after is not None
    assert not bench.works(old)
    assert bench.works(new)
    assert after.principal == before.principal
    bench.clock.pass_time(days=9)
    assert bench.works(new)
    bench.clock.pass_time(days=1)
    assert not bench.works(new)


def test_rotating_gives_an_expired_key_a_new_life(bench: KeysBench) -> None:
    bench.keyring.create("shop", role="producer", expires_in_days=1)
    bench.clock.pass_time(days=5)
    assert bench.works(bench.keyring.rotate("shop"))


def test_a_grace_lets_both_keys_work_for_a_while(bench: KeysBench) -> None:
    old = bench.keyring.create("shop", role="producer")
    new = bench.keyring.rotate("shop", grace_minutes=60)
    bench.clock.pass_time(minutes=59)
    assert bench.works(old)
    assert bench.works(new)
    bench.clock.pass_time(minutes=1)
    assert not bench.works(old)
    assert bench.works(new)


def test_a_grace_never_lengthens_a_life(bench: KeysBench) -> None:
    old = bench.keyring.create("shop", role="producer", expires_in_days=1)
    bench.keyring.rotate("shop", grace_minutes=2 * 24 * 60)
    bench.clock.pass_time(days=1)
    assert not bench.works(old)


def test_rotating_and_revoking_end_what_a_grace_left(bench: KeysBench) -> None:
    first = bench.keyring.create("shop", role="producer")
    second = bench.keyring.rotate("shop", grace_minutes=60)
    third = bench.keyring.rotate("shop", grace_minutes=30)
    assert [bench.works(key) for key in (first, second, third)] == [True, True, True]
    fourth = bench.keyring.rotate("shop")
    assert [bench.works(key) for key in (first, second, third, fourth)] == [False, False, False, True]
    fifth = bench.keyring.rotate("shop", grace_minutes=60)
    bench.keyring.revoke("shop")
    assert [bench.works(key) for key in (fourth, fifth)] == [False, False]


@pytest.mark.parametrize("grace", [-1, 10_081, math.nan, math.inf])
def test_a_grace_out_of_range(bench: KeysBench, grace: float) -> None:
    key = bench.keyring.create("shop", role="producer")
    with pytest.raises(InvalidKeyGrant):
        bench.keyring.rotate("shop", grace_minutes=grace)
    assert bench.works(key)


@pytest.mark.parametrize("command", ["rotate", "revoke"])
def test_a_name_that_nobody_has(bench: KeysBench, command: str) -> None:
    with pytest.raises(KeyNotFound, match="nobody"):
        getattr(bench.keyring, command)("nobody")
    with pytest.raises(InvalidKeyGrant):
        getattr(bench.keyring, command)("No Body")
    assert bench.items() == []


def test_listing_tells_the_standing_keys_by_name_newest_first(bench: KeysBench) -> None:
    bench.keyring.create("zoo", role="worker")
    bench.keyring.create("ant", role="producer", expires_in_days=1)
    bench.keyring.create("gone", role="admin")
    bench.keyring.revoke("gone")
    bench.clock.pass_time(days=2)
    bench.keyring.rotate("zoo", grace_minutes=5)
    listed = [(key.name, key.state(bench.clock()).value) for key in bench.keyring.list_keys()]
    assert listed == [("ant", "expired"), ("zoo", "active"), ("zoo", "active")]
    newest, oldest = bench.keyring.list_keys()[1:]
    assert newest.created_at > oldest.created_at


def test_listing_reads_all_pages(bench: KeysBench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        bench.keyring.create(f"k{number}", role="worker")
    scan = bench.client.scan
    # the client's paginator asks for pages of three items
    monkeypatch.setattr(bench.client, "scan", lambda **request: scan(**request, Limit=3))
    assert [key.name for key in bench.keyring.list_keys()] == [f"k{number}" for number in range(7)]


def test_in_code_a_key_is_made_by_one_call(bench: KeysBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEYS_TABLE", bench.table)
    key = create_key("shop", role="producer", queues=("mail",), max_priority="high", expires_in_days=30)
    found = bench.find(key)
    assert found is not None
    assert found.name == "shop"
    assert found.expires_at is not None
    assert create_key("other", "worker")


def test_without_a_table_no_key_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_KEYS_TABLE", raising=False)
    with pytest.raises(InvalidSettings, match="API_KEYS_TABLE"):
        create_key("shop", role="producer")
    assert "API_KEYS_TABLE" not in os.environ


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("role", {"S": "root"}),
        ("role", {"N": "1"}),
        ("name", {"S": "Not A Name"}),
        ("name", None),
        ("queues", None),
        ("queues", {"SS": ["*", "mail"]}),
        ("queues", {"SS": ["Mail"]}),
        ("queues", {"S": "*"}),
        ("queues", {"L": []}),
        ("max_priority", None),
        ("max_priority", {"S": "urgent"}),
        ("created_at", {"S": "yesterday"}),
        ("expires_at", {"N": "1796005562"}),
        ("expires_at", {"S": "never"}),
        ("revoked_at", {"BOOL": False}),
    ],
)
def test_an_odd_item_grants_nothing(bench: KeysBench, attribute: str, value: dict[str, Any] | None) -> None:
    key = bench.keyring.create("shop", role="producer", expires_in_days=1)
    item: dict[str, Any]
    item = bench.client.get_item(TableName=bench.table, Key={"key_hash": {"S": hash_key(key)}})["Item"]
    item.pop(attribute, None)
    if value is not None:
        item = {**item, attribute: value}
    bench.client.put_item(TableName=bench.table, Item=item)
    with pytest.raises(CorruptKey):
        bench.find(key)


def test_a_name_never_revokes_the_key_of_another(bench: KeysBench) -> None:
    victim = bench.keyring.create("victim", role="admin")
    bench.keyring.create("shop", role="producer")
    bench.client.update_item(
        TableName=bench.table,
        Key={"key_hash": {"S": "name#shop"}},
        UpdateExpression="SET #c = :c",
        ExpressionAttributeNames={"#c": "current"},
        ExpressionAttributeValues={":c": {"S": hash_key(victim)}},
    )
    with pytest.raises(CorruptKey):
        bench.keyring.revoke("shop")
    assert bench.works(victim)


def test_no_credential_leads_to_the_item_of_a_name(bench: KeysBench) -> None:
    bench.keyring.create("shop", role="producer")
    assert bench.find("name#shop") is None
    found = bench.find(bench.keyring.rotate("shop"))
    assert found is not None
    assert replace(found, key_hash="").principal.id == "key:shop"
