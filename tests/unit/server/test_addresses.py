"""Whose address counts: a proxy's word about its callers is believed only where the settings trust it."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from footplate.server.addresses import Proxies, is_loopback, neighbourhood


def call(address: str, *forwarded: str) -> HTTPConnection:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return HTTPConnection({"type": "http", "client": (address, 1), "headers": headers})


@pytest.mark.parametrize(
    ("trusted", "address", "forwarded", "expected"),
    [
        ((), "10.0.0.1", ("1.2.3.4",), "10.0.0.1"),
        (("127.0.0.1",), "10.0.0.1", ("1.2.3.4",), "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ("1.2.3.4",), "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", (), "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ("6.6.6.6, 1.2.3.4",), "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ("1.2.3.4, 10.0.0.2",), "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ("1.2.3.4", "10.0.0.2"), "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ("nonsense",), "10.0.0.1"),
        (("::1",), "::1", ("2001:db8::1",), "2001:db8::1"),
    ],
)
def test_the_last_address_that_no_trusted_proxy_speaks_for_counts(
    trusted: tuple[str, ...], address: str, forwarded: tuple[str, ...], expected: str
) -> None:
    assert Proxies(trusted).caller(call(address, *forwarded)) == expected


def test_neighbours_in_a_network_of_ipv6_count_as_one() -> None:
    assert neighbourhood("2001:db8::1") == neighbourhood("2001:db8::ffff:1")
    assert neighbourhood("2001:db8:0:1::1") != neighbourhood("2001:db8::1")
    assert neighbourhood("::ffff:10.0.0.1") == neighbourhood("10.0.0.1") == "10.0.0.1"
    assert neighbourhood("") == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1", "localhost"])
def test_loopback_is_reached_by_this_machine_only(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "", "localhost.example.org"])
def test_all_else_is_beyond_loopback(host: str) -> None:
    assert not is_loopback(host)
