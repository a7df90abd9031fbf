"""Listens for SSH: at the port that is set, or beside the server's own where only this machine reaches both.

The library is loaded with the first connection: it is large, and most servers never see one.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import socket
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.errors import InvalidInput
from footplate.server.settings import Settings
from footplate.server.ssh.accepting import SignIn, accept, bound, end, new_door
from footplate.server.ssh.hostkey import ensure_host_key, public_part
from footplate.server.ssh.taskports import Behind, TaskPorts
from footplate.services.accounts import Accounts
from footplate.services.platform import Platform

log = logging.getLogger(__name__)

# The one after the server's own is for services.
AFTER_OURS = 2
GATEWAY = "footplate.server.ssh.gateway"


@dataclass(frozen=True, slots=True)
class SshAddress:
    """Where the gateway listens, the key by which clients know it, and ports that lead to one task each."""

    host: str
    port: int
    host_key: str
    of_tasks: TaskPorts


async def open_gateway(
    settings: Settings, platform: Platform, accounts: Accounts, stack: AsyncExitStack
) -> SshAddress | None:
    """Listen until the server closes; None where nobody asked for it and others could reach it."""
    listener = _listener(settings)
    if listener is None:
        return None
    stack.callback(listener.close)
    file = await asyncio.to_thread(ensure_host_key, settings.home)

    async def talk(client: socket.socket, sign_in: SignIn, behind: Behind | None = None) -> None:
        gateway: Any = await asyncio.to_thread(importlib.import_module, GATEWAY)
        await gateway.talk_to(client, platform, accounts, gateway.read_key(file), sign_in, behind)

    accepting = asyncio.create_task(accept(listener, talk, new_door()), name="footplate-ssh")
    stack.push_async_callback(end, accepting)
    port = listener.getsockname()[1]
    log.debug("SSH at %s:%s", settings.ssh_host, port)
    host = urlsplit(settings.url).hostname or settings.ssh_host
    of_tasks = TaskPorts(settings.ssh_host, lambda behind: partial(talk, behind=behind))
    stack.push_async_callback(of_tasks.close)
    of_tasks.follow(platform.store)
    return SshAddress(host, port, await asyncio.to_thread(public_part, file), of_tasks)


def _listener(settings: Settings) -> socket.socket | None:
    host, port = settings.ssh_host, settings.ssh_port
    if port is not None:
        try:
            return bound(host, port)
        except OSError as error:
            said = {"host": host, "port": port, "error": error.strerror}
            raise InvalidInput("cannot_listen", "ssh_port", **said) from error
    if settings.has_ssh:
        for wanted in (settings.port + AFTER_OURS, 0):
            with contextlib.suppress(OSError, OverflowError):
                return bound(host, wanted)
    return None
