"""Back-off of single tasks: which tasks a launch leaves out, and when to launch again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from footplate.domain.clock import Clock
from footplate.domain.job import Job

# Not less than a moment: a clock that stands still must not make us launch without end.
SHORTEST_S = 0.02


class TaskPauses:
    """Calls `wake(job_id)` when the first pause of a task that a launch has left out is over."""

    def __init__(self, clock: Clock, wake: Callable[[str], None]) -> None:
        self._clock = clock
        self._wake = wake
        self._alarms: dict[str, asyncio.TimerHandle] = {}

    def set_alarm(self, job: Job, left_out: Collection[tuple[str, int]]) -> None:
        """Schedule a wake-up for the tasks that a launch left out."""
        if (before := self._alarms.pop(job.id, None)) is not None:
            before.cancel()
        ends = [job.task(*who).not_before or 0.0 for who in left_out]
        if ends:
            wait_s = max(min(ends) - self._clock.now(), SHORTEST_S)
            self._alarms[job.id] = asyncio.get_running_loop().call_later(wait_s, self._ring, job.id)

    def _ring(self, job_id: str) -> None:
        del self._alarms[job_id]
        self._wake(job_id)

    def close(self) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()
