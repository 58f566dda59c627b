"""The deployment, for tests that attack it."""

from __future__ import annotations

from tests.support.fixtures import log_to_standard_output, stack, tables

__all__ = ["log_to_standard_output", "stack", "tables"]
