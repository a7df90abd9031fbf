"""When to run a scheduling pass: at once, in a moment with others, or when a pause ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from footplate.control.admit import Admission
from footplate.control.context import Context
from footplate.domain.events import Reschedule
from footplate.domain.histogram import Histogram
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.store.store import Move

SOON_S = 0.02


class Passes:
    """Runs scheduling passes on request."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.admission = Admission(context, self.ask)
        self.times = Histogram()
        self._asked = asyncio.Event()
        self._soon: asyncio.TimerHandle | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def ask(self) -> None:
        """Ask for a scheduling pass soon."""
        self._asked.set()

    def reschedule(self, job: Job, _effect: Reschedule) -> None:
        """Plan immediately when resources were freed; a new job behind others waits a moment for more.

        One for which there is no room is looked at when the others are: nothing starts by its coming.
        """
        if self.admission.is_counted_on(job):
            return
        self.admission.ask_for(job.moved_by)
        if job.state is JobState.QUEUED and not job.attempt and not self.admission.has_room(job):
            return
        if job.state is not JobState.QUEUED or self.admission.n_waiting <= 1:
            self.ask()
        elif self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON_S, self._ask_now)

    def _ask_now(self) -> None:
        self._soon = None
        self.ask()

    async def run_when_asked(self) -> None:
        await self._asked.wait()
        self._asked.clear()
        await self.run()

    async def run(self, news: Sequence[Move] = ()) -> None:
        """Run one pass, which commits these news as well."""
        done, began = False, time.perf_counter()
        try:
            done = await self.admission.run_pass(news)
        finally:
            self.times.note(time.perf_counter() - began)
            if not done:
                # What it decided did not come about: somebody must decide again.
                self.ask()
            self._set_alarm()

    async def explain_rest(self) -> None:
        """Plan again while jobs wait, so that each comes to know why."""
        if self.admission.n_waiting:
            self.ask()

    def _set_alarm(self) -> None:
        """Plan again when the first pause of a waiting job is over."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if (wakes_at := self.admission.wakes_at) is not None:
            # Not less than a moment: a clock that stands still must not make us plan without end.
            wait_s = max(wakes_at - self._context.clock.now(), SOON_S)
            self._alarm = asyncio.get_running_loop().call_later(wait_s, self.ask)

    def close(self) -> None:
        for timer in (self._soon, self._alarm):
            if timer is not None:
                timer.cancel()
