"""TLS handshakes: who has not shaken hands yet counts at the door like all others, and has to hurry.

Where the event loop secures connections by itself, nobody knows of those that never say a word: they are in
no bound, and each keeps a descriptor and the memory of a handshake for a minute.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import cast

import uvicorn

from footplate.domain.errors import TooManyConnections
from footplate.server.door import Door

log = logging.getLogger(__name__)

# What keeps a connection from being accepted, such as too many open files, does so again at once.
FAULT_PAUSE_S = 1.0

Make = Callable[[], asyncio.Protocol]


class Handshakes:
    """Accepts connections, and hands those that have shaken hands to a protocol of their own."""

    def __init__(self, listener: socket.socket, door: Door, context: ssl.SSLContext, make: Make) -> None:
        self._door = door
        self._context = context
        self._make = make
        self._under_way: set[asyncio.Task[None]] = set()
        self._accepting = asyncio.create_task(self._accept(listener), name="footplate-accept")

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listener)
            except OSError as error:
                log.warning("a connection cannot be accepted: %s", error)
                await asyncio.sleep(FAULT_PAUSE_S)
                continue
            self._begin(loop, connection, address[0])

    def _begin(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, address: str) -> None:
        guest = _Newcomer(loop.time(), connection)
        try:
            self._door.enter(guest, address, loop)
        except TooManyConnections:
            # Whoever has not shaken hands cannot be told why.
            connection.close()
            return
        shaking = guest.shaking = asyncio.create_task(self._shake(guest, address))
        self._under_way.add(shaking)
        shaking.add_done_callback(self._under_way.discard)

    async def _shake(self, guest: _Newcomer, address: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(
                partial(self._make_for, guest, address),
                guest.connection,
                ssl=self._context,
                ssl_handshake_timeout=self._door.bounds.header_time_s,
            )
        except OSError:
            # It has gone, was too slow, or speaks no TLS that we speak.
            guest.connection.close()
        finally:
            self._door.leave(guest, address)

    def _make_for(self, guest: _Newcomer, address: str) -> asyncio.Protocol:
        protocol = self._make()
        begin = protocol.connection_made

        def connection_made(transport: asyncio.BaseTransport) -> None:
            # From here on it counts as what it is: twice would be once too often where the house is full.
            self._door.leave(guest, address)
            begin(transport)

        protocol.connection_made = connection_made  # type: ignore[method-assign]
        return protocol

    def close(self) -> None:
        """Accept no more, and end the handshakes that are under way."""
        for task in (self._accepting, *self._under_way):
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(self._accepting, *self._under_way, return_exceptions=True)


class _Newcomer:
    """A connection whose handshake is under way, as the door sees it."""

    def __init__(self, since: float, connection: socket.socket) -> None:
        self.connection = connection
        self.shaking: asyncio.Task[None] | None = None
        self._since = since

    def check(self, now: float) -> None:
        """The handshake has a timeout of its own."""

    def waits_since(self) -> float | None:
        return self._since

    def give_way(self) -> None:
        if self.shaking is not None:
            self.shaking.cancel()


class SecureServer(uvicorn.Server):
    """Speaks HTTP over TLS, by the context that new connections are to have."""

    def __init__(self, config: uvicorn.Config, door: Door, context: ssl.SSLContext) -> None:
        super().__init__(config)
        self._door = door
        self._context = context

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        kind = cast("Callable[..., asyncio.Protocol]", self.config.http_protocol_class)
        make = partial(
            kind, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        begun = [Handshakes(one, self._door, self._context, make) for one in sockets or []]
        # Closed and waited for, as servers of the event loop are.
        self.servers = cast("list[asyncio.base_events.Server]", begun)
