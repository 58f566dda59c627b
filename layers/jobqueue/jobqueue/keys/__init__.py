"""API keys: how they are made, stored, looked up and taken back.

This package is the only one that knows the table of keys. On a terminal::

    export API_KEYS_TABLE=...           # the stack's output ApiKeysTableName
    python -m jobqueue.keys create shop --role producer --queue emails --max-priority high
    python -m jobqueue.keys list
    python -m jobqueue.keys rotate shop --grace 60
    python -m jobqueue.keys revoke shop
"""

from __future__ import annotations

from jobqueue.keys.apikey import ApiKey, KeyState, hash_key, is_key
from jobqueue.keys.keyring import Keyring, create_key, open_keyring
from jobqueue.keys.table import KeysTable, open_keys_table

__all__ = [
    "ApiKey",
    "KeyState",
    "Keyring",
    "KeysTable",
    "create_key",
    "hash_key",
    "is_key",
    "open_keyring",
    "open_keys_table",
]
