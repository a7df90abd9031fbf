"""Stops tasks: SIGTERM, then SIGKILL after the grace period; those that were not started never are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from footplate.domain.attempt import Attempt
from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.observe.records import (
    STOPPED_BY_KILL,
    fence,
    read_claim,
    read_exit,
    write_exit,
)
from footplate.engines.local.observe.watches import TaskKey, Watch
from footplate.engines.local.process.processes import KILL_EVERY_S
from footplate.engines.local.runtime import Runtime

ASK_AGAIN_S = 0.01
GIVE_UP_S = 30


async def end(runtime: Runtime, watches: Collection[Watch], grace_s: float) -> None:
    """End tasks; raise `EngineUnavailable` when one cannot be ended."""
    await _end_by_force(runtime, await _end_politely(runtime, watches, grace_s))


async def _end_politely(runtime: Runtime, watches: Collection[Watch], grace_s: float) -> Collection[Watch]:
    """Ask every task to end and give it time; return those that are still there."""
    ends_at = time.monotonic() + grace_s
    untold = running = set(watches)
    while running and (left_s := ends_at - time.monotonic()) > 0:
        untold = await runtime.ask_to_end(untold & running)
        # A shim that has no child yet is about to have one, which must be asked too.
        running = await _wait(running, min(left_s, ASK_AGAIN_S) if untold else left_s)
    return running


async def _end_by_force(runtime: Runtime, watches: Collection[Watch]) -> None:
    """Kill until nothing is left; raise `EngineUnavailable` when the kernel cannot end a process."""
    began_at = time.monotonic()
    running = set(watches)
    while running:
        spent_s = time.monotonic() - began_at
        if spent_s > GIVE_UP_S:
            names = ", ".join(watch.key.task for watch in running)
            raise EngineUnavailable("tasks_not_ended", tasks=names)
        await runtime.kill(running, spent_s)
        running = await _wait(running, KILL_EVERY_S)


async def _wait(watches: Collection[Watch], for_s: float) -> set[Watch]:
    """Wait until all have ended, at most so long; return those that have not."""
    try:
        async with asyncio.timeout(for_s):
            for watch in watches:
                await watch.ended.wait()
    except TimeoutError:
        pass
    return {watch for watch in watches if not watch.ended.is_set()}


def prevent_start(attempt: Attempt, folders: Collection[Path]) -> None:
    """See that no task of an attempt can be started any more."""
    try:
        for folder in folders:
            fence(folder)
    except OSError as error:
        raise EngineUnavailable("start_not_prevented", attempt=attempt.id, error=str(error)) from error


def conclude(stopped: Mapping[TaskKey, Path]) -> None:
    """Give tasks that were stopped the exit code that they lack."""
    for folder in stopped.values():
        claim = read_claim(folder)
        if read_exit(folder) is None and claim is not None and claim.identity is not None:
            write_exit(folder, STOPPED_BY_KILL)
