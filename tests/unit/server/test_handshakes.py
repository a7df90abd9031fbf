"""Connections that have not shaken hands yet are bounded as all others are."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import uvloop

from footplate.server.bounds import Bounds
from footplate.server.door import Door
from footplate.server.handshakes import Handshakes
from footplate.server.tls import Tls
from footplate.testing.certificates import Authority

DEADLINE_S = 20


class Echo(asyncio.Protocol):
    """Says what it hears, and counts at the door as a connection does."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Served(Echo):
    """Counts at the door, and waits for nothing."""

    door: Door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.door.enter(self, "127.0.0.1", asyncio.get_running_loop())

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self, "127.0.0.1")

    def check(self, now: float) -> None: ...

    def waits_since(self) -> float | None:
        return None

    def give_way(self) -> None:
        self.transport.abort()


class Gate:
    """A server on a free port, and how to reach it."""

    def __init__(self, port: int, trust: ssl.SSLContext, visitors: ExitStack) -> None:
        self.port = port
        self.trust = trust
        self.visitors = visitors

    def greet(self) -> socket.socket:
        """Connect, and say nothing."""
        connection = self.visitors.enter_context(socket.create_connection(("127.0.0.1", self.port)))
        connection.setblocking(False)
        return connection

    async def ask(self, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.trust, server_hostname="localhost"
        )
        writer.write(data)
        answer = await reader.readexactly(len(data))
        writer.close()
        await writer.wait_closed()
        return answer


async def until_closed(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(ConnectionResetError):
        while await loop.sock_recv(connection, 1024):
            pass


@asynccontextmanager
async def gate(folder: Path, bounds: Bounds) -> AsyncIterator[Gate]:
    authority = Authority(folder / "authority")
    pair = authority.issue("localhost")
    door, context = Door(bounds, lambda _address: False), Tls(pair.cert, pair.key).context
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as visitors:
        listener.setblocking(False)
        here = Handshakes(listener, door, context, type("Here", (Served,), {"door": door}))
        try:
            trust = ssl.create_default_context(cafile=str(authority.file))
            yield Gate(listener.getsockname()[1], trust, visitors)
        finally:
            here.close()
            await here.wait_closed()


def test_who_shakes_hands_is_heard(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), gate(tmp_path, Bounds()) as here:
            for n_bytes in (1, 300_000):
                data = b"x" * n_bytes
                assert await here.ask(data) == data

    uvloop.run(story())


def test_connections_without_a_handshake_give_way_to_others_of_their_address(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), gate(tmp_path, Bounds(n_per_address=3)) as here:
            silent = [asyncio.create_task(until_closed(here.greet())) for _ in range(3)]
            assert await here.ask(b"hello") == b"hello"
            # One was closed, and the others were not.
            closed, others = await asyncio.wait(silent, return_when=asyncio.FIRST_COMPLETED)
            assert (len(closed), len(others)) == (1, 2)
            for other in others:
                other.cancel()

    uvloop.run(story())


def test_the_last_place_is_for_whoever_has_shaken_hands_last(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), gate(tmp_path, Bounds(n_per_address=1)) as here:
            assert await here.ask(b"hello") == b"hello"

    uvloop.run(story())


def test_a_connection_that_never_shakes_hands_is_closed(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), gate(tmp_path, Bounds(header_time_s=0.2)) as here:
            await until_closed(here.greet())

    uvloop.run(story())


def test_what_is_no_tls_is_closed_and_others_are_served(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), gate(tmp_path, Bounds(n_per_address=2)) as here:
            for _ in range(3):
                stranger = here.greet()
                stranger.send(b"GET / HTTP/1.1\r\n\r\n")
                await until_closed(stranger)
            assert await here.ask(b"hello") == b"hello"

    uvloop.run(story())
