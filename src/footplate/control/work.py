"""Slow work for jobs, outside of transactions: each kind runs at most once at a time for one attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from footplate.control.context import Context
from footplate.control.faults import Report
from footplate.domain.job import Job
from footplate.engines.base import AbandonsLaunches

ABANDON_EVERY_S = 0.1
LAUNCH = "launch"
STOP = "stop"
STOP_OTHERS = "stop others"
STOP_SOONER = "stop sooner"
REMOVE = "remove"


class JobWork:
    """What is under way for which attempt."""

    def __init__(self, context: Context, report: Report) -> None:
        self._context = context
        self._report = report
        self._tasks: dict[tuple[str, str, int], asyncio.Task[None]] = {}

    def is_under_way(self, kind: str, job: Job) -> bool:
        return (kind, job.id, job.attempt) in self._tasks

    def begin(
        self,
        kind: str,
        job: Job,
        work: Callable[[], Coroutine[None, None, None]],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin some work, unless the same is under way already; call `then` at its end."""
        key = (kind, job.id, job.attempt)
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.create_task(work(), name=f"footplate-{kind}-{job.id}")
            task.add_done_callback(lambda done: self._end(key, done, then))

    def _end(self, key: tuple[str, str, int], task: asyncio.Task[None], then: Callable[[], None]) -> None:
        self._tasks.pop(key, None)
        then()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(f"{key[0]} of job {key[1]}", error)

    async def until_done(self, job: Job, *kinds: str) -> None:
        """Wait for the end of work of these kinds; a launch is asked to give up what it waits for."""
        for kind in kinds:
            task = self._tasks.get((kind, job.id, job.attempt))
            while task is not None and not task.done():
                engine = self._context.engines.of(job)
                if kind == LAUNCH and isinstance(engine, AbandonsLaunches):
                    # Time and again: what it waits for may have begun just now.
                    engine.abandon(job.attempt_id)
                await asyncio.wait([task], timeout=ABANDON_EVERY_S)

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
