"""Work that a launch waits for, until it is done or the attempt is to be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from footplate.domain.errors import EngineUnavailable

T = TypeVar("T")


class Wanted(Generic[T]):
    """What attempts wait for; `not_wanted` is the code of what is said of one that waits no longer."""

    def __init__(self, not_wanted: str) -> None:
        self._not_wanted = not_wanted
        self._waiting: dict[str, asyncio.Task[T]] = {}

    async def wait(self, attempt_id: str, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work; raise `EngineUnavailable` when the attempt is abandoned before it is done."""
        waiting = self._waiting[attempt_id] = asyncio.create_task(work)
        try:
            await asyncio.wait([waiting])
        finally:
            del self._waiting[attempt_id]
            waiting.cancel()
        if waiting.cancelled():
            raise EngineUnavailable(self._not_wanted, attempt=attempt_id)
        return waiting.result()

    def abandon(self, attempt_id: str) -> None:
        if waiting := self._waiting.get(attempt_id):
            waiting.cancel()
