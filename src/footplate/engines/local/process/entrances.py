"""Decides which tasks `exec` may enter: not those that are being stopped or were stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from footplate.domain.errors import Conflict
from footplate.engines.local.observe.watches import TaskKey

# Whoever asks later than that many stops finds the job at its end.
MOST_REMEMBERED = 10_000


class Entrances:
    """Refuses new commands in tasks that are being stopped, so that the stop misses no process."""

    def __init__(self) -> None:
        self._closed: dict[TaskKey, None] = {}
        self._entering: dict[asyncio.Event, TaskKey] = {}

    def require_open(self, key: TaskKey) -> None:
        if key in self._closed:
            raise Conflict("task_stopping", task=key.task)

    @contextmanager
    def entering(self, key: TaskKey) -> Iterator[None]:
        """Go in, unless the task is stopped; what was started inside can be found when this ends."""
        self.require_open(key)
        is_in = asyncio.Event()
        self._entering[is_in] = key
        try:
            yield
        finally:
            del self._entering[is_in]
            is_in.set()

    def close(self, keys: Collection[TaskKey]) -> None:
        """Refuse new commands in these tasks from now on."""
        for key in keys:
            self._closed.pop(key, None)
            self._closed[key] = None
        while len(self._closed) > MOST_REMEMBERED:
            self._closed.pop(next(iter(self._closed)))

    async def until_all_are_in(self, keys: Collection[TaskKey]) -> None:
        """Wait for commands that were starting when these tasks were closed."""
        for is_in in [is_in for is_in, key in self._entering.items() if key in keys]:
            await is_in.wait()
