"""Leaving an engine alone for a while that does not answer."""

from __future__ import annotations

from footplate.domain.clock import Clock

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0


class Backoff:
    """Pauses that double with every failure, and end with the first success."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pause_s = 0.0
        self._until = 0.0

    @property
    def holds(self) -> bool:
        return self._pause_s > 0 and self._clock.elapsed() < self._until

    def fail(self) -> None:
        self._pause_s = min(2 * self._pause_s or FIRST_PAUSE_S, LONGEST_PAUSE_S)
        self._until = self._clock.elapsed() + self._pause_s

    def succeed(self) -> None:
        self._pause_s = 0.0
