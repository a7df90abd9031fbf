"""The real clock."""

from __future__ import annotations

import time


class SystemClock:
    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()
