"""A connection until its TLS handshake is done: it counts at the door like any other, and has to hurry.

Where the event loop secures connections by itself, nobody knows of those that never send a word: they are
in no bound, and each keeps a descriptor and the memory of a handshake for a minute.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.utils import get_remote_addr

from footplate.domain.errors import TooManyConnections
from footplate.server.door import Door

Make = Callable[..., asyncio.Protocol]


class Doorstep(asyncio.Protocol):
    """Secures a connection, then hands it to the protocol that speaks HTTP."""

    door: Door
    context: ssl.SSLContext
    make: Make

    def __init__(self, *args: Any, **options: Any) -> None:
        self._make_inner = partial(type(self).make, *args, **options)
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._securing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        client = get_remote_addr(transport)
        self._transport, self._address = transport, client[0] if client else ""
        try:
            self.door.enter(self, self._address, self._loop)
        except TooManyConnections:
            # Whoever has not shaken hands cannot be told why.
            transport.abort()
            return
        self._securing = self._loop.create_task(self._secure())

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # as asyncio calls it
        self.door.leave(self, self._address)

    async def _secure(self) -> None:
        early = _Early()
        try:
            secured = await self._loop.start_tls(
                self._transport,
                early,
                self.context,
                server_side=True,
                ssl_handshake_timeout=self.door.bounds.header_time_s,
            )
        except OSError:
            # It has gone, or speaks no TLS that we speak.
            self._transport.abort()
            return
        finally:
            self.door.leave(self, self._address)
        if secured is not None:
            early.hand_over(secured, self._make_inner())

    # What the door asks

    def check(self, now: float) -> None:
        """The handshake has a timeout of its own."""

    def waits_since(self) -> float | None:
        return self._since

    def give_way(self) -> None:
        self.door.leave(self, self._address)
        self._transport.abort()


class _Early(asyncio.Protocol):
    """Keeps what comes between the end of a handshake and whoever is to hear it."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lost: tuple[Exception | None] | None = None

    def data_received(self, data: bytes) -> None:
        self._data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = (exc,)

    def hand_over(self, secured: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        if self._lost is not None:
            return
        secured.set_protocol(protocol)
        protocol.connection_made(secured)
        if self._data:
            protocol.data_received(bytes(self._data))


def secured(door: Door, context: ssl.SSLContext, make: Make) -> type[Doorstep]:
    """The kind of connections that come through a door by TLS."""
    return type("SecureConnection", (Doorstep,), {"door": door, "context": context, "make": staticmethod(make)})
