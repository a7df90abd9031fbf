"""Which addresses webhooks may lead to: those of the public Internet, and networks that admins allow.

A name is resolved once, and the connection goes to the address that was checked: a name that leads elsewhere
a moment later changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from footplate.domain.messages import say
from footplate.notify.base import Network, SendFailed

Address = IPv4Address | IPv6Address
_TRANSLATED = IPv6Network("64:ff9b::/96")


async def checked_address(host: str, port: int, allowed: Sequence[Network]) -> str:
    """Resolve a host; raise `SendFailed` when it is unknown, or any of its addresses is not allowed."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SendFailed(say("channel_host_unknown", host=host, error=str(error))) from None
    addresses = [ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    for address in addresses:
        if not is_allowed(address, allowed):
            raise SendFailed(say("channel_address_private", host=host, address=str(address)), is_final=True)
    return str(addresses[0])


def is_allowed(address: Address, allowed: Sequence[Network]) -> bool:
    """Tell whether webhooks may lead to an address, whatever it is wrapped into."""
    plain = _unwrapped(address)
    if any(plain.version == network.version and plain in network for network in allowed):
        return True
    return plain.is_global and not plain.is_multicast and not plain.is_reserved


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour or address
