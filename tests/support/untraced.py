"""Runs moto where coverage does not look: tracing its lines takes time, and none of them is counted."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from moto.core.botocore_stubber import BotocoreStubber

AT_ONCE = 64


def leave_moto_untraced() -> None:
    """Let moto answer on threads of its own, which are not traced."""
    pool = ThreadPoolExecutor(AT_ONCE, "moto", initializer=sys.settrace, initargs=(None,))
    answer = BotocoreStubber.__call__

    def answer_untraced(stubber: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
        return pool.submit(answer, stubber, *args, **kwargs).result()

    pytest.MonkeyPatch().setattr(BotocoreStubber, "__call__", answer_untraced)
