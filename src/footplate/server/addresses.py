"""The address of a caller, also behind the trusted proxies of the settings."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache

from starlette.requests import HTTPConnection

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
FORWARDED = "x-forwarded-for"


class Proxies:
    """The networks whose word about their own callers is believed."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks: Sequence[Network] = [ipaddress.ip_network(text, strict=False) for text in networks]

    def trusts(self, address: str) -> bool:
        """Tell whether an address is one of a trusted proxy."""
        if not self._networks:
            return False
        found = _parsed(address)
        return found is not None and any(found in network for network in self._networks)

    def caller(self, connection: HTTPConnection) -> str:
        """The address that a request came from: the last one that no trusted proxy speaks for."""
        address = connection.client.host if connection.client else ""
        if not self.trusts(address):
            return address
        told = ",".join(connection.headers.getlist(FORWARDED)).split(",")
        for hop in reversed([text.strip() for text in told if text.strip()]):
            if _parsed(hop) is None:
                break
            address = hop
            if not self.trusts(hop):
                break
        return address


@lru_cache(maxsize=4096)
def neighbourhood(address: str) -> str:
    """What one caller can have many of: an IPv4 address, or the 64 bits that an IPv6 network begins with."""
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address if found is None else str(found)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches what listens there."""
    found = _parsed(host)
    return host == "localhost" if found is None else found.is_loopback


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found
