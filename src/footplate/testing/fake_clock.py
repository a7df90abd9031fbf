"""A fake clock that moves only when a test advances it."""

from __future__ import annotations


class FakeClock:
    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._elapsed = 0.0

    def now(self) -> float:
        return self._now

    def elapsed(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
        self._elapsed += seconds

    def jump(self, seconds: float) -> None:
        """Set the time, of which none passes."""
        self._now += seconds
