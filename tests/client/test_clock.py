from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from jobqueue_client import Clock
from jobqueue_client.clock import Mailbox

LONG = 20.0


@contextmanager
def on_alarm(seconds: float, handle: Callable[[], None]) -> Iterator[None]:
    """Call `handle` in a signal handler of this thread, in a while."""
    earlier = signal.signal(signal.SIGALRM, lambda *_: handle())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


@pytest.fixture
def mailbox() -> Mailbox[str]:
    return Mailbox()


def test_messages_are_read_in_their_order(mailbox: Mailbox[str]) -> None:
    for message in ("first", "second"):
        mailbox.put(message)
    assert len(mailbox) == 2
    assert [Clock().wait(mailbox, LONG) for _ in range(2)] == ["first", "second"]
    assert len(mailbox) == 0


def test_a_wait_without_a_message_ends(mailbox: Mailbox[str]) -> None:
    assert Clock().wait(mailbox, 0.01) is None
    assert Clock().wait(mailbox, -1.0) is None


def test_a_message_of_another_thread_ends_the_wait(mailbox: Mailbox[str]) -> None:
    thread = threading.Timer(0.05, mailbox.put, ["hello"])
    thread.start()
    assert Clock().wait(mailbox, LONG) == "hello"
    thread.join()


def test_a_message_of_a_signal_handler_ends_the_wait(mailbox: Mailbox[str]) -> None:
    with on_alarm(0.05, lambda: mailbox.put("stop")):
        assert Clock().wait(mailbox, LONG) == "stop"


def test_a_wait_ends_though_a_signal_handler_outlasts_it(mailbox: Mailbox[str]) -> None:
    rescue = threading.Timer(LONG, mailbox.put, ["it would have waited for ever"])
    rescue.start()
    with on_alarm(0.05, lambda: time.sleep(0.2)):
        assert Clock().wait(mailbox, 0.1) is None
    rescue.cancel()
    rescue.join()
