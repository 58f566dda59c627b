"""Whoever may enqueue a webhook must not reach what is meant for the inside."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobqueue.webhooks.addresses import checked_addresses, is_public
from jobqueue.webhooks.refusals import AddressNotAllowed, HostNotFound, WebhookNotAllowed
from jobqueue.webhooks.webhook import Webhook, WebhookSender
from tests.support.receiver import Receiver, receiving

CLOSED = (
    str(IPv4Address(0)),
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",  # the metadata of another cloud
    "127.0.0.1",
    "127.1.2.3",
    "169.254.169.254",  # the metadata of machines
    "169.254.170.2",  # the credentials of containers
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.8",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",  # IPv4-compatible
    "::ffff:0:7f00:1",  # IPv4-translated
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",  # NAT64 of one's own
    "64:ff9b:1::a9fe:a9fe",
    "100::1",
    "2001::1",  # Teredo
    "2001:0:7f00:1::",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:808:808::1",  # even where it leads to a public address
    "2600:1f18::5efe:7f00:1",  # ISATAP
    "2600:1f18::200:5efe:a00:1",
    "3ffe::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # the metadata of machines, over IPv6
    "fe80::1",
    "fe80::1%1",
    "2600:1f18::1%1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
)
OPEN = (
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2001:4860:4860::8888",
    "2600:1f18::1",
    "2a00:1450::1",
)


class Secret:
    """Signs for nobody in particular."""

    def read(self) -> bytes:
        return b"made up"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def resolving(*addresses: str) -> Any:
    """Return a resolver that knows one answer."""

    def resolve(_: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolve


def webhook(url: str, **headers: str) -> Webhook:
    return Webhook(id="job_x", url=url, method="POST", headers=headers, body={"secret": "inside"})


@pytest.mark.parametrize("address", CLOSED)
def test_no_address_of_the_inside_is_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", OPEN)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_what_python_calls_not_global_is_not_public(address: IPv4Address) -> None:
    assert address.is_global or not is_public(address)
    assert not address.is_multicast or not is_public(address)


@given(st.ip_addresses(v=6))
def test_only_global_unicast_is_public(address: IPv6Address) -> None:
    if is_public(address) and address.ipv4_mapped is None and not str(address).startswith("64:ff9b::"):
        assert address.is_global
        assert int(address) >> 125 == 1
        assert not address.is_multicast


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_what_is_inside(address: IPv4Address) -> None:
    mapped = IPv6Address(f"::ffff:{address}")
    translated = IPv6Address(int(IPv6Address("64:ff9b::")) + int(address))
    assert is_public(mapped) == is_public(translated) == is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "127.1",
        "0",
    ],
)
def test_every_spelling_of_this_machine_is_refused(receiver: Receiver, host: str) -> None:
    with pytest.raises((AddressNotAllowed, HostNotFound)):
        WebhookSender(Secret()).send(webhook(receiver.url(host)))
    assert receiver.received == []


def test_a_name_that_leads_inside_is_refused(receiver: Receiver) -> None:
    sender = WebhookSender(Secret(), resolve=resolving("127.0.0.1"))
    with pytest.raises(AddressNotAllowed):
        sender.send(webhook(receiver.url("rebind.example.com")))
    assert receiver.received == []


def test_one_public_address_does_not_carry_another(receiver: Receiver) -> None:
    sender = WebhookSender(Secret(), resolve=resolving("8.8.8.8", "127.0.0.1"))
    with pytest.raises(AddressNotAllowed):
        sender.send(webhook(receiver.url("both.example.com")))
    assert receiver.received == []


def test_a_second_answer_of_the_resolver_is_never_asked_for(receiver: Receiver) -> None:
    asked: list[str] = []

    def resolve(host: str, port: int, **options: Any) -> Any:
        asked.append(host)
        return resolving("127.0.0.1" if len(asked) == 1 else "10.0.0.1")(host, port, **options)

    sender = WebhookSender(Secret(), allow_loopback=True, resolve=resolve)
    sender.send(webhook(receiver.url("once.example.com")))
    assert asked == ["once.example.com"]
    assert len(receiver.received) == 1


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "0.1.2.3", "fe80::1", "::ffff:10.0.0.1"])
def test_the_setting_for_tests_allows_loopback_alone(address: str) -> None:
    with pytest.raises(AddressNotAllowed):
        checked_addresses("x.example.com", 80, allow_loopback=True, resolve=resolving(address))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.headers = status, {"location": receiver.url(path="/inside")}
    answer = WebhookSender(Secret(), allow_loopback=True).send(webhook(receiver.url()))
    assert answer.status == status
    assert [request.path for request in receiver.received] == ["/hook"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "ftp://example.com/",
        "//example.com/",
        "http://",
        "http:///path",
        "http://user@example.com/",
        "http://user:password@example.com/",
        "http://example.com:99999/",
        "http://[::1",
        "",
    ],
)
def test_what_is_no_plain_url_of_a_host_is_refused(url: str) -> None:
    with pytest.raises(WebhookNotAllowed):
        WebhookSender(Secret(), resolve=resolving("8.8.8.8")).send(webhook(url))


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "HOST",
        "Content-Length",
        "Transfer-Encoding",
        "Authorization",
        "Connection",
        "Webhook-Id",
        "webhook-signature",
        "WEBHOOK-TIMESTAMP",
        "Proxy-Authorization",
        "User-Agent",
    ],
)
def test_what_speaks_for_the_sender_cannot_be_set(receiver: Receiver, name: str) -> None:
    with pytest.raises(WebhookNotAllowed):
        WebhookSender(Secret(), allow_loopback=True).send(webhook(receiver.url(), **{name: "forged"}))
    assert receiver.received == []


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a..b", "x" * 64 + ".example.com"])
def test_a_name_without_an_address_is_tried_again_later(host: str) -> None:
    def resolve(name: str, *_: Any, **__: Any) -> list[Any]:
        name.encode("idna")  # as the real one does
        raise socket.gaierror

    with pytest.raises(HostNotFound):
        checked_addresses(host, 80, resolve=resolve)


def test_a_name_with_no_answer_at_all_is_not_found() -> None:
    with pytest.raises(HostNotFound):
        checked_addresses("empty.example.com", 80, resolve=resolving())
