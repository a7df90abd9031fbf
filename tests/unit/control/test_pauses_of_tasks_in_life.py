"""Pauses of single tasks on a real store with a fake engine: the others go on, restarts forget nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.cluster import Node
from footplate.domain.events import StopAsked
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.pauses import Pauses
from footplate.domain.resources import GIB
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.server.clock import SystemClock
from footplate.store import event_queries
from footplate.store.shared import Tuned
from footplate.testing.control_bench import Life, life

NODE = Node("fake", 4000, 8 * GIB)
USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))


async def pausing(one: Life) -> Job:
    """A job of which one task has crashed three times and pauses, and the other runs."""
    job_id = await one.submit(1, count=2, task_retry=1000)
    await one.until(job_id, JobState.RUNNING)
    for run in range(3):
        await one.until_so(job_id, lambda job, run=run: job.tasks[0].run == run and _runs(job))
        one.engine.finish(f"{job_id}.0", code=1)
    return await one.until_so(job_id, lambda job: job.tasks[0].run == 3)


def _runs(job: Job) -> bool:
    return job.tasks[0].state is TaskState.RUNNING


def test_a_task_that_crashes_at_once_pauses_and_the_others_do_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), node=NODE, tuned=Tuned(pauses=Pauses(0.4, 30))) as one:
            paused = await pausing(one)
            assert paused.tasks[0].run == 3
            n_starts = one.engine.world.n_starts
            one.engine.finish(f"{paused.id}.0", index=1, code=1)
            await one.until_so(paused.id, lambda job: job.tasks[1].run == 1)
            await one.until_so(paused.id, lambda _: one.engine.world.n_starts > n_starts)
            assert one.engine.world.n_starts == n_starts + 1, "nobody starts the other before its time"
            later = await one.until_so(paused.id, _runs)
            assert later.tasks[0].started_at is not None
            assert paused.tasks[0].not_before is not None
            assert 0 <= later.tasks[0].started_at - paused.tasks[0].not_before < 0.3

    asyncio.run(story())


def test_a_pause_of_a_task_goes_on_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        clock = SystemClock()
        async with life(tmp_path, clock, node=NODE, tuned=Tuned(pauses=Pauses(0.6, 30))) as one:
            paused = await pausing(one)
        world = one.engine.world
        n_starts = world.n_starts
        async with life(tmp_path, clock, world, NODE, tuned=Tuned(pauses=Pauses(0.6, 30))) as again:
            assert again.store.board[paused.id] == paused
            later = await again.until_so(paused.id, _runs)
            assert later.tasks[0].started_at is not None
            assert paused.tasks[0].not_before is not None
            assert later.tasks[0].started_at >= paused.tasks[0].not_before
            assert world.n_starts == n_starts + 1

    asyncio.run(story())


def test_a_job_is_stopped_during_the_pause_of_a_task_which_never_starts(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), node=NODE, tuned=Tuned(pauses=Pauses(0.3, 30))) as one:
            paused = await pausing(one)
            n_starts = one.engine.world.n_starts
            await one.tell(paused.id, StopAsked(one.clock.now(), USER, "ann"))
            await one.until(paused.id, JobState.STOPPED)
            until = (paused.tasks[0].not_before or 0.0) + 0.1
            await one.until_so(paused.id, lambda _: one.clock.now() > until)
            assert one.engine.world.n_starts == n_starts
            assert one.engine.running() == []

    asyncio.run(story())


def test_the_events_say_until_when_a_task_pauses(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), node=NODE, tuned=Tuned(pauses=Pauses(60, 60))) as one:
            paused = await pausing(one)
            lines = await one.store.read(lambda tx: event_queries.after(tx, 0, 100, paused.id))
            told = [line for line in lines if line.kind == "task_retried"]
            assert [line.data.get("not_before") is not None for line in told] == [False, False, True]
            assert "retry 3 of 1000, not before 20" in told[-1].message

    asyncio.run(story())
