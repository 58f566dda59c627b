"""The deployment, for tests that send it events."""

from __future__ import annotations

from tests.support.fixtures import log_to_standard_output, stack, tables

__all__ = ["log_to_standard_output", "stack", "tables"]
