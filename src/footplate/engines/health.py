"""Whether an engine answers as a whole; one that does not is left alone, and nothing is started there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from footplate.domain.clock import Clock
from footplate.domain.messages import Message
from footplate.engines.backoff import Backoff

LOOK_EVERY_S = 0.2


class Health:
    """What is known of one engine: why it is away, and whether it is time to try again."""

    def __init__(self, clock: Clock) -> None:
        self._backoff = Backoff(clock)
        self._listeners: list[Callable[[], None]] = []
        self.away: Message | None = None
        self._is_tried = False

    @property
    def holds(self) -> bool:
        """Whether the engine is to be left alone for now."""
        return self._backoff.holds

    def on_change(self, tell: Callable[[], None]) -> None:
        """Have somebody told when the engine goes away or comes back."""
        self._listeners.append(tell)

    def doubt(self, why: Message) -> None:
        """Count on nothing until the engine has answered."""
        self.away = why

    def fail(self, why: Message) -> None:
        """Note that the engine did not answer; what failed at the same time makes the pause no longer."""
        if not self._backoff.holds:
            self._backoff.fail()
        was_there, self.away = self.away is None, why
        if was_there:
            self._tell()

    def succeed(self) -> None:
        self._backoff.succeed()
        if self.away is not None:
            self.away = None
            self._tell()

    async def await_turn(self, is_wanted: Callable[[], bool]) -> bool:
        """Wait until an engine that is away answers, or until it is time to try it; True for who is to try.

        Only one tries at a time, and ends its turn then: what becomes of it holds for all. Whoever is no
        longer wanted need not wait.
        """
        while self.away is not None and is_wanted():
            if not self._is_tried and not self.holds:
                self._is_tried = True
                return True
            await asyncio.sleep(LOOK_EVERY_S)
        return False

    def end_turn(self) -> None:
        self._is_tried = False

    def _tell(self) -> None:
        for tell in self._listeners:
            tell()
