"""To which addresses a webhook may be sent: those of the public internet, and no others.

Whoever may enqueue a webhook chooses where this deployment connects to. Without this, it could reach what
is meant for the inside alone: the metadata of the machine, a database, an admin page on a private network.

The name is resolved once, every address that it has is checked, and the connection is made to one of these
very addresses. A name whose second look-up gives another answer gains nothing by that.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Any, TypeAlias

from jobqueue.webhooks.refusals import AddressNotAllowed, HostNotFound

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[..., list[tuple[Any, Any, Any, Any, Any]]]
"""As `socket.getaddrinfo`."""

# Spelled out, since what `is_global` says of some of them differs between versions of Python.
# https://www.iana.org/assignments/iana-ipv4-special-registry
_CLOSED_V4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT, and inside of cloud networks
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, with the metadata of machines and containers
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays to 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# https://www.iana.org/assignments/iana-ipv6-special-registry: of all of IPv6 only this is global unicast,
_OPEN_V6 = IPv6Network("2000::/3")
# but for these in it.
_CLOSED_V6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which leads to the IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the former 6bone
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
"""In a network without IPv4, what DNS64 makes of an IPv4 address: it is as public as that one."""

# The interface identifiers of ISATAP, which lead to the IPv4 address in the last 32 bits. RFC 5214.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: Address) -> bool:
    """Tell whether `address` is one host of the public internet, whatever wraps it."""
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _CLOSED_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address.scope_id is not None or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return False
    return address in _OPEN_V6 and not any(address in block for block in _CLOSED_V6)


def checked_addresses(
    host: str, port: int, *, allow_loopback: bool = False, resolve: Resolve = socket.getaddrinfo
) -> tuple[Address, ...]:
    """Return the addresses of a host, in the order to try them.

    Parameters
    ----------
    host : str
        A name, or an address; an IPv6 address may stand in brackets.
    port : int
        The port, for the resolver.
    allow_loopback : bool
        Whether this machine itself is allowed: for tests.
    resolve : callable
        As `socket.getaddrinfo`.

    Raises
    ------
    HostNotFound
        If the name has no address, or cannot be looked up now.
    AddressNotAllowed
        If any of its addresses is not public: one good address must not carry the others.
    """
    try:
        found = resolve(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # UnicodeError: a label that is empty or too long
        raise HostNotFound from None
    addresses = tuple(dict.fromkeys(ip_address(entry[4][0]) for entry in found))
    if not addresses:
        raise HostNotFound
    for address in addresses:
        if not is_public(address) and not (allow_loopback and _is_loopback(address)):
            raise AddressNotAllowed
    return addresses


def _is_loopback(address: Address) -> bool:
    return address in IPv4Network("127.0.0.0/8") or address == IPv6Address("::1")
