"""What a function loads as it starts: what its requests need, and no more."""

from __future__ import annotations

import pytest

from tests.support.starting import printed_by


@pytest.mark.parametrize(
    ("function", "is_loaded"), [("fail_job", True), ("complete_job", False), ("list_queues", False)]
)
def test_only_who_is_told_errors_loads_what_cleans_them(function: str, is_loaded: bool) -> None:
    code = f"import sys, functions.{function}.app; print('jobqueue.redact' in sys.modules)"
    assert printed_by(code) == str(is_loaded)
