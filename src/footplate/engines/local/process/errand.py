"""Runs a command of the platform's own for a person, confined as that person's tasks are.

It outlives the server like a task: whoever asks for the same errand again is told how it ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.exchange import Answer
from footplate.engines.local.observe.records import Exit, Identity, read_claim, read_exit
from footplate.engines.local.process.ending import watching

Start = Callable[[], Awaitable[Sequence[Answer]]]
# Ends a process by force, until the event says that it has ended, and gives back what held it.
End = Callable[[Identity, asyncio.Event], Awaitable[None]]


async def run_errand(
    start: Start, end: End, folder: Path, running: set[Identity], is_closing: asyncio.Event
) -> Exit | None:
    """Run a command, or find the one that was begun before; None when it ended without a record.

    Whoever is cancelled ends the command, unless the server closes. It is among those that are `running`
    until then.
    """
    starting = asyncio.ensure_future(_start(start, folder))
    try:
        identity = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # It may have been started by then: nobody else would end it.
        await asyncio.wait([starting])
        if not is_closing.is_set():
            await asyncio.shield(_end_started(folder, end))
        raise
    # From here to the watch nothing waits, so nobody can be cancelled in between.
    if identity is None:
        return None
    running.add(identity)
    try:
        async with watching(identity) as ended:
            try:
                await ended.wait()
            finally:
                if not is_closing.is_set():
                    await asyncio.shield(end(identity, ended))
    finally:
        running.discard(identity)
    return await asyncio.to_thread(read_exit, folder)


async def _start(start: Start, folder: Path) -> Identity | None:
    (answer,) = await start()
    if "error" in answer:
        raise EngineUnavailable("command_not_started", error=answer["error"])
    return await asyncio.to_thread(_identity, folder)


def _identity(folder: Path) -> Identity | None:
    claim = read_claim(folder)
    return claim.identity if claim else None


async def _end_started(folder: Path, end: End) -> None:
    identity = await asyncio.to_thread(_identity, folder)
    if identity is not None:
        async with watching(identity) as ended:
            await end(identity, ended)
