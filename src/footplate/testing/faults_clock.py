"""A clock that runs as the machine's does, until somebody sets it."""

from __future__ import annotations

import time


class JumpingClock:
    """Shows the time of the machine, moved by as much as it was set forward or back."""

    def __init__(self) -> None:
        self._offset_s = 0.0

    def now(self) -> float:
        return time.time() + self._offset_s

    def elapsed(self) -> float:
        return time.monotonic()

    def jump(self, seconds: float) -> None:
        self._offset_s += seconds
