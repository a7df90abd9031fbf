"""Ends containers: by signals to their processes where the server may send them, else through the engine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.containers import claiming
from footplate.engines.local.containers.api import ContainerApi, Refused
from footplate.engines.local.observe.records import read_claim, read_exit
from footplate.engines.local.observe.watches import Watch
from footplate.engines.local.process.processes import ask_to_end, open_process

REMOVE_WITHIN_S = 20
POLL_EVERY_S = 0.02


def ask_directly(watches: Collection[Watch]) -> set[Watch]:
    """Ask all processes of these containers to end; return those whose command has not begun yet."""
    return {watch for watch in watches if not ask_to_end(watch.identity.pid)}


def kill_directly(watches: Collection[Watch]) -> None:
    """Kill the first process of each container, and with it all others of its."""
    for watch in watches:
        if not watch.ended.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(watch.pidfd, signal.SIGKILL)


async def remove(api: ContainerApi, name: str) -> None:
    """End and remove a container, and return when it is gone."""
    give_up_at = time.monotonic() + REMOVE_WITHIN_S
    while True:
        try:
            await api.remove(name)
        except Refused as error:
            # Somebody else may be at it, and not be done yet.
            if time.monotonic() > give_up_at:
                raise EngineUnavailable("container_not_removed", container=name, why=error.said) from error
            await asyncio.sleep(POLL_EVERY_S)
        else:
            return


def is_over(folder: Path) -> bool:
    """Tell from the task's files alone that nothing of it runs or ever will."""
    if claiming.keep_from_beginning(folder) or read_exit(folder) is not None:
        return True
    claim = read_claim(folder)
    if claim is None or claim.identity is None:
        return False
    pidfd = open_process(claim.identity)
    if pidfd is not None:
        os.close(pidfd)
    return pidfd is None
