"""Runs a command of the platform's own for a person, confined as that person's tasks are.

It outlives the server like a task: whoever asks for the same errand again is told how it ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.exchange import Answer, ProcessRequest, ProcessTask
from footplate.engines.local.observe.records import Exit, Identity, read_claim, read_exit
from footplate.engines.local.process.processes import KILL_EVERY_S, kill_tree, open_process

Start = Callable[[ProcessRequest, Sequence[ProcessTask]], Awaitable[Sequence[Answer]]]
Release = Callable[[Identity], None]


async def run_errand(
    start: Start,
    running: set[Identity],
    release: Release,
    request: ProcessRequest,
    task: ProcessTask,
    is_closing: asyncio.Event,
) -> Exit | None:
    """Run a command, or find the one that was begun before; None when it ended without a record.

    Whoever is cancelled ends the command, unless the server closes. It is among those that are `running`
    until then, and what held it is released.
    """
    starting = asyncio.ensure_future(start(request, [task]))
    try:
        (answer,) = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # It may have been started by then: nobody else would end it.
        await asyncio.wait([starting])
        if not is_closing.is_set():
            await asyncio.shield(_end_started(Path(task["folder"]), release))
        raise
    if "error" in answer:
        raise EngineUnavailable("command_not_started", error=str(answer["error"]))
    folder = Path(task["folder"])
    claim = await asyncio.to_thread(read_claim, folder)
    if claim is None or claim.identity is None:
        return None
    running.add(claim.identity)
    try:
        async with _ending(claim.identity) as ended:
            try:
                await ended.wait()
            finally:
                if not is_closing.is_set():
                    await asyncio.shield(_end(ended, claim.identity.pid))
                if ended.is_set():
                    release(claim.identity)
    finally:
        running.discard(claim.identity)
    return await asyncio.to_thread(read_exit, folder)


async def _end_started(folder: Path, release: Release) -> None:
    claim = await asyncio.to_thread(read_claim, folder)
    if claim is not None and claim.identity is not None:
        async with _ending(claim.identity) as ended:
            await _end(ended, claim.identity.pid)
        release(claim.identity)


@contextlib.asynccontextmanager
async def _ending(identity: Identity) -> AsyncIterator[asyncio.Event]:
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


async def _end(ended: asyncio.Event, pid: int) -> None:
    while not ended.is_set():
        kill_tree(pid)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), KILL_EVERY_S)
