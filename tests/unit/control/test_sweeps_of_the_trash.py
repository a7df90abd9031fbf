"""The trash is emptied by itself: at the start of a server, and in time."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.events import DeleteAsked
from footplate.domain.states import JobState
from footplate.server.clock import SystemClock
from footplate.store.shared import Tuned
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock


async def trashed(one: Life) -> str:
    job_id = await one.submit(1, command="true")
    await one.until(job_id, JobState.SUCCEEDED)
    await one.tell(job_id, DeleteAsked(one.clock.now(), "ann"))
    return job_id


def test_what_lay_in_the_trash_for_too_long_goes_at_the_start(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await trashed(one)
        clock.advance(86_401)
        async with life(tmp_path, clock, one.engine.world) as again:
            await again.until_gone(job_id)

    asyncio.run(story())


def test_a_short_time_in_the_trash_is_kept_to(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), tuned=Tuned(trash_kept_s=0.5)) as one:
            await one.until_gone(await trashed(one))

    asyncio.run(story())


def test_a_time_in_the_trash_that_an_admin_shortens_is_kept_to(tmp_path: Path) -> None:
    async def story() -> None:
        tuned = Tuned(trash_kept_s=86_400)
        async with life(tmp_path, SystemClock(), tuned=tuned) as one:
            job_id = await trashed(one)
            tuned.trash_kept_s = 0.5
            await one.until_gone(job_id)

    asyncio.run(story())
