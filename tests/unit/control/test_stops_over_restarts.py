"""A stop at once is not forgotten by a restart of the server."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.attempt import Attempt
from footplate.domain.events import StopAsked
from footplate.domain.messages import text
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.engines.base import Notice
from footplate.testing.control_bench import life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine

USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))


class NeverEnds(FakeEngine):
    """Waits for the whole grace and longer."""

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        await asyncio.Event().wait()


class NotesGrace(FakeEngine):
    """Remembers how long tasks were given to end."""

    graces: list[float]

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        self.graces = [*getattr(self, "graces", []), grace_s]
        await super().stop(attempt, grace_s, notice)


def test_a_stop_at_once_goes_on_as_such_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, kind=NeverEnds) as one:
            job_id = await one.submit(1, grace="1h")
            await one.until(job_id, JobState.RUNNING)
            await one.tell(job_id, StopAsked(clock.now(), USER, "ann"))
            await one.tell(job_id, StopAsked(clock.now(), USER, "ann", grace_s=0.0))
        async with life(tmp_path, clock, one.engine.world, kind=NotesGrace) as again:
            await again.until(job_id, JobState.STOPPED)
            assert isinstance(again.engine, NotesGrace)
            assert again.engine.graces == [0.0]

    asyncio.run(story())
