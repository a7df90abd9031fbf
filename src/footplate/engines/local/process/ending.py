"""Waits for a process that is not a child of this one, and ends it with all that descends from it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

from footplate.engines.local.observe.records import Identity
from footplate.engines.local.process.processes import KILL_EVERY_S, kill_tree, open_process


@contextlib.asynccontextmanager
async def watching(identity: Identity) -> AsyncIterator[asyncio.Event]:
    """Watch a process; the event is set once it has ended."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    pidfd = open_process(identity)
    if pidfd is None:
        ended.set()
        yield ended
        return
    loop.add_reader(pidfd, ended.set)
    try:
        yield ended
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)


async def kill_until(ended: asyncio.Event, shim: int) -> None:
    """Kill what a shim watches over until the shim itself has ended, which records how."""
    while not ended.is_set():
        kill_tree(shim)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), KILL_EVERY_S)
