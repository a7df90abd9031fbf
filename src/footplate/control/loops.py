"""Loops: repeat a step until the server stops; an error in one repetition does not end the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from footplate.control.faults import Report

FAULT_PAUSE_S = 1.0

Step = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Loop:
    """A step that waits for its own cue, or comes round every so many seconds."""

    name: str
    step: Step
    every_s: float = 0.0
    # None: the first time comes after `every_s`, like all others.
    first_after_s: float | None = None


class Loops:
    """Runs loops until they are closed."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, loops: Iterable[Loop]) -> None:
        self._tasks += [
            asyncio.create_task(self._repeat(loop), name=f"footplate-{loop.name}") for loop in loops
        ]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _repeat(self, loop: Loop) -> None:
        wait_s = loop.every_s if loop.first_after_s is None else loop.first_after_s
        while True:
            if loop.every_s:
                await asyncio.sleep(wait_s)
                wait_s = loop.every_s
            try:
                await loop.step()
            except Exception as error:  # noqa: BLE001  # the top of a loop: it reports and goes on
                self._report(f"the {loop.name} loop", error)
                await asyncio.sleep(FAULT_PAUSE_S)
