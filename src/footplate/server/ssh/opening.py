"""Listens for SSH: at the port that is set, or beside the server's own where only this machine reaches both.

The library is loaded with the first connection: it is large, and most servers never see one.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.errors import InvalidInput, TooManyConnections
from footplate.server.bounds import Bounds
from footplate.server.door import Door
from footplate.server.settings import Settings
from footplate.server.ssh.hostkey import ensure_host_key, public_part
from footplate.services.accounts import Accounts
from footplate.services.platform import Platform

log = logging.getLogger(__name__)

# The one after the server's own is for services.
AFTER_OURS = 2
BACKLOG = 128
BOUNDS = Bounds(n_connections=256, n_per_address=128)
AFTER_FAILURE_S = 1.0
GATEWAY = "footplate.server.ssh.gateway"

# Told when somebody has signed in by the connection.
SignIn = Callable[[], None]
Talk = Callable[[socket.socket, SignIn], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SshAddress:
    """Where the gateway listens, and the key by which clients know it."""

    host: str
    port: int
    host_key: str


async def open_gateway(
    settings: Settings, platform: Platform, accounts: Accounts, stack: AsyncExitStack
) -> SshAddress | None:
    """Listen until the server closes; None where nobody asked for it and others could reach it."""
    listener = _listener(settings)
    if listener is None:
        return None
    stack.callback(listener.close)
    file = await asyncio.to_thread(ensure_host_key, settings.home)

    async def talk(client: socket.socket, sign_in: SignIn) -> None:
        gateway: Any = await asyncio.to_thread(importlib.import_module, GATEWAY)
        await gateway.talk_to(client, platform, accounts, gateway.read_key(file), sign_in)

    accepting = asyncio.create_task(_accept(listener, talk), name="footplate-ssh")
    stack.push_async_callback(_end, accepting)
    port = listener.getsockname()[1]
    log.debug("SSH at %s:%s", settings.ssh_host, port)
    host = urlsplit(settings.url).hostname or settings.ssh_host
    return SshAddress(host, port, await asyncio.to_thread(public_part, file))


def _listener(settings: Settings) -> socket.socket | None:
    host, port = settings.ssh_host, settings.ssh_port
    if port is not None:
        try:
            return _bound(host, port)
        except OSError as error:
            said = {"host": host, "port": port, "error": error.strerror}
            raise InvalidInput("cannot_listen", "ssh_port", **said) from error
    if settings.has_ssh:
        for wanted in (settings.port + AFTER_OURS, 0):
            with contextlib.suppress(OSError, OverflowError):
                return _bound(host, wanted)
    return None


def _bound(host: str, port: int) -> socket.socket:
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


async def _accept(listener: socket.socket, talk: Talk) -> None:
    """Talk to whoever connects; strangers who only hold a connection open keep nobody out."""
    loop = asyncio.get_running_loop()
    door = Door(BOUNDS, is_proxy=lambda _: False)
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


async def _end(accepting: asyncio.Task[None]) -> None:
    accepting.cancel()
    await asyncio.wait([accepting])
