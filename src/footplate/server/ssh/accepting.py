"""Takes SSH connections at a listener, for as long as it is there."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable

from footplate.domain.errors import TooManyConnections
from footplate.server.bounds import Bounds
from footplate.server.door import Door

log = logging.getLogger(__name__)

BACKLOG = 128
BOUNDS = Bounds(n_connections=256, n_per_address=128)
AFTER_FAILURE_S = 1.0

# Told when somebody has signed in by the connection.
SignIn = Callable[[], None]
Talk = Callable[[socket.socket, SignIn], Awaitable[None]]


def new_door() -> Door:
    """Who keeps count of connections; listeners may share one."""
    return Door(BOUNDS, is_proxy=lambda _: False)


def bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    listener.setblocking(False)
    return listener


class _Guest:
    """A connection, which makes room for others until somebody has signed in by it."""

    def __init__(self, client: socket.socket, address: str, door: Door) -> None:
        self.client, self.address = client, address
        self.serving: asyncio.Task[None] | None = None
        self._door = door
        self._since: float | None = asyncio.get_running_loop().time()

    @property
    def is_stranger(self) -> bool:
        return self._since is not None

    def sign_in(self) -> None:
        self._since = None

    def check(self, now: float) -> None:
        """Leave it to the library, which ends a sign-in that takes too long."""

    def waits_since(self) -> float | None:
        return self._since

    def give_way(self) -> None:
        self._door.leave(self, self.address)
        if self.serving is not None:
            self.serving.cancel()


async def accept(listener: socket.socket, talk: Talk, door: Door) -> None:
    """Talk to whoever connects; strangers who only hold a connection open keep nobody out."""
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as connections:
        while True:
            try:
                client, (address, *_) = await loop.sock_accept(listener)
            except OSError as error:
                # As many files are open as may be, say.
                log.warning("SSH connections cannot be taken: %s", error)
                await asyncio.sleep(AFTER_FAILURE_S)
                continue
            guest = _Guest(client, address, door)
            try:
                door.enter(guest, address, loop)
            except TooManyConnections:
                client.close()
            else:
                guest.serving = connections.create_task(_serve(guest, door, talk))


async def _serve(guest: _Guest, door: Door, talk: Talk) -> None:
    try:
        await talk(guest.client, guest.sign_in)
    except Exception as error:  # noqa: BLE001  # whatever one sends, the others are served
        if guest.is_stranger:
            door.tell("did not sign in by SSH", asyncio.get_running_loop().time())
        else:
            log.info("an SSH connection was not served: %s", error)
    finally:
        guest.client.close()
        door.leave(guest, guest.address)


async def end(accepting: asyncio.Task[None]) -> None:
    accepting.cancel()
    await asyncio.wait([accepting])
