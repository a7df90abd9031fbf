"""The clock protocol, so that code takes the time as an argument."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def elapsed(self) -> float:
        """Seconds of a monotonic clock, which is not affected when the machine's time is set."""
        ...
