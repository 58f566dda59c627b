"""Whether the port is ours to take."""

from __future__ import annotations

import errno
import socket

from local.failure import StackFailed

LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def require_free_port(port: int) -> None:
    """Check that nobody listens on `port` of either loopback address.

    Both, because ``localhost`` may mean either: with a stranger on ``::1`` the printed URL would
    reach the stranger.

    Raises
    ------
    StackFailed
        If the port is taken, or may not be used.
    """
    for family, address in LOOPBACK:
        try:
            answers(family, address, port)
            bind(family, address, port)
        except PermissionError:
            raise StackFailed(f"port {port} needs privileges; choose another: make up PORT=4567") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = port + 1 if port < 65_535 else port - 1
                raise StackFailed(f"port {port} is in use; choose another: make up PORT={other}") from None
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # no IPv6 here
                raise


def answers(family: socket.AddressFamily, address: str, port: int) -> None:
    """Raise EADDRINUSE if somebody answers: macOS lets a bind pass beside a listener on all addresses."""
    with socket.socket(family, socket.SOCK_STREAM) as caller:
        caller.settimeout(1)
        if caller.connect_ex((address, port)) == 0:
            raise OSError(errno.EADDRINUSE, "in use")


def bind(family: socket.AddressFamily, address: str, port: int) -> None:
    """Raise what binding raises; connections of a server that has just ended do not count."""
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
