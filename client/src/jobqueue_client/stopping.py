"""SIGTERM and SIGINT: the first asks a worker to stop, the second to stop at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop(Protocol):
    """What a signal calls. It runs in a signal handler, so it must not wait for any lock."""

    def __call__(self, *, force: bool) -> None:
        """Stop; at once when `force` is set."""


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """Call `stop` when the process is asked to end. A third signal does what it did before.

    Only the main thread can listen to signals; in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = {number: signal.getsignal(number) for number in _SIGNALS}
    asked = False

    def restore() -> None:
        for number, handler in earlier.items():
            # None: installed by something that is not Python, which cannot be put back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        stop(force=asked)
        if asked:
            restore()
        asked = True

    for number in _SIGNALS:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        restore()
