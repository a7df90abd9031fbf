"""Idle time is that of one run of a task, not of those before it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.states import JobState
from footplate.testing.control_bench import life
from footplate.testing.fake_clock import FakeClock


def test_a_task_that_is_started_again_has_not_been_idle_yet(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1, idle_limit="10m", task_retry=1)
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await one.controller.watch_progress()
            clock.advance(590)
            await one.controller.watch_progress()
            one.engine.finish(f"{job_id}.0", code=1)
            await one.until_so(
                job_id, lambda job: job.tasks[0].run == 1 and job.tasks[0].started_at == clock.now()
            )
            clock.advance(20)
            await one.controller.watch_progress()
            assert one.store.board[job_id].state is JobState.RUNNING
            clock.advance(600)
            await one.controller.watch_progress()
            await one.until(job_id, JobState.STOPPED)

    asyncio.run(story())
