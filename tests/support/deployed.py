"""The functions as Lambda has them: what they ask is opened from their environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from jobqueue.api import dependencies


@contextmanager
def deployed_settings() -> Iterator[None]:
    """Let the functions open the queue that their environment names."""
    opened = (dependencies._of_environment, dependencies._throttle_of_environment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependencies, "_instead", [])
        for one in opened:
            one.cache_clear()
        yield
        for one in opened:
            one.cache_clear()
