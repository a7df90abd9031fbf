"""What a failed job keeps: only what failed counts, and only for as long as it must."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.cluster import Node
from footplate.domain.events import Released
from footplate.domain.job import Job
from footplate.domain.resources import GIB
from footplate.domain.states import JobState
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock

NODE = Node("fake", 3000, 8 * GIB)
GANG = {"count": 3, "cpus": 1, "memory": "1GB", "keep_on_failure": "10m"}


async def kept(one: Life) -> Job:
    """A gang of three that fills the node, of which one task has failed."""
    job_id = await one.submit(1, **GANG)
    await one.until(job_id, JobState.RUNNING)
    one.engine.finish(f"{job_id}.0", index=1, code=3)
    return await one.until_so(job_id, lambda job: job.is_kept and _held(job) == ["main-1"])


def _held(job: Job) -> list[str]:
    assert job.placement is not None
    return [f"{task.role}-{task.index}" for task in job.placement.held.tasks]


def test_what_the_other_tasks_held_is_free_while_one_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, FakeClock(), node=NODE) as one:
            first = await kept(one)
            other = await one.submit(2, count=2, cpus=1, memory="1GB")
            await one.until(other, JobState.RUNNING)
            third = await one.submit(3, cpus=1, memory="1GB")
            assert await one.state_after_a_pass(third) is JobState.QUEUED, "what failed is still held"
            await one.tell(first.id, Released(one.clock.now(), "ann"))
            await one.until(first.id, JobState.FAILED)
            await one.until(third, JobState.RUNNING)

    asyncio.run(story())


def test_a_kept_task_is_entered_as_a_part_of_the_gang_that_it_was(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, FakeClock(), node=NODE) as one:
            job = await kept(one)
            ran = await one.controller.streams.exec(job, "main", 1, ["ls"], 10)
            assert ran.output == b"main-1: ls\n"
            assert job.placement is not None
            assert len(job.placement.tasks) == 3

    asyncio.run(story())


def test_after_a_restart_only_what_failed_is_held(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, node=NODE) as one:
            job = await kept(one)
        async with life(tmp_path, clock, one.engine.world, NODE) as again:
            assert again.store.board[job.id] == job
            other = await again.submit(2, count=2, cpus=1, memory="1GB")
            await again.until(other, JobState.RUNNING)

    asyncio.run(story())


def test_the_time_for_which_a_failure_is_kept_is_no_run_time(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, node=NODE) as one:
            job = await kept(one)
            assert job.finished_at == clock.now()
            clock.advance(300)
            await one.tell(job.id, Released(clock.now(), "ann"))
            over = await one.until(job.id, JobState.FAILED)
            assert over.finished_at == job.finished_at

    asyncio.run(story())
