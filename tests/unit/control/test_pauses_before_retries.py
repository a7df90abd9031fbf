"""Pauses before retries on a real store with a fake engine: woken in time, kept over restarts, bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footplate.control import controller as controllers
from footplate.domain.clock import Clock
from footplate.domain.job import Job
from footplate.domain.pauses import Pauses
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.server.clock import SystemClock
from footplate.store.shared import Tuned
from footplate.testing import control_bench
from footplate.testing.control_bench import Life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeWorld

# The engine may have said by then that the tasks run.
STARTED = (JobState.STARTING, JobState.RUNNING)


@pytest.fixture(autouse=True)
def only_the_alarm_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the pass that explains twice a second, which would find the end of a pause by chance."""
    monkeypatch.setattr(controllers, "EXPLAIN_EVERY_S", 3600.0)


async def pausing(one: Life) -> Job:
    """A job whose task was lost twice."""
    job_id = await one.submit(1)
    for attempt in (0, 1):
        await one.until(job_id, JobState.RUNNING, attempt)
        one.engine.lose(f"{job_id}.{attempt}")
    return await one.until(job_id, JobState.QUEUED, 2)


@asynccontextmanager
async def life(
    home: Path, clock: Clock, world: FakeWorld | None = None, pauses: Pauses | None = None
) -> AsyncIterator[Life]:
    async with control_bench.life(home, clock, world, tuned=Tuned(pauses=pauses or Pauses(4, 100))) as one:
        yield one


def test_a_job_starts_as_soon_as_its_pause_is_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), pauses=Pauses(0.3, 10)) as one:
            paused = await pausing(one)
            assert paused.not_before is not None
            started = await one.until(paused.id, JobState.RUNNING, 2)
            assert started.started_at is not None
            assert 0 <= started.started_at - paused.not_before < 0.25

    asyncio.run(story())


def test_others_run_while_a_job_pauses_and_none_is_woken_late(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), pauses=Pauses(1.5, 10)) as one:
            paused = await pausing(one)
            other = await one.submit(2)
            await one.until(other, JobState.RUNNING, 0)
            assert one.store.board[paused.id].state is JobState.QUEUED
            async with asyncio.timeout(10):
                while one.store.board[paused.id].reason.code is ReasonCode.RETRY_LATER:
                    await asyncio.sleep(0.01)
            assert one.store.board[paused.id].reason.code is ReasonCode.INSUFFICIENT_RESOURCES
            one.engine.finish(f"{other}.0")
            await one.until(paused.id, JobState.RUNNING, 2)

    asyncio.run(story())


def test_a_pause_goes_on_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            paused = await pausing(one)
            world = one.engine.world
        clock.advance(3)
        async with life(tmp_path, clock, world) as again:
            assert again.store.board[paused.id] == paused
            assert await again.state_after_a_pass(paused.id) is JobState.QUEUED
            clock.advance(1)
            assert await again.state_after_a_pass(paused.id) in STARTED

    asyncio.run(story())


def test_a_pause_that_ended_while_the_server_was_down_holds_nothing_up(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            paused = await pausing(one)
            world = one.engine.world
        clock.advance(4)
        async with life(tmp_path, clock, world) as again:
            await again.until(paused.id, JobState.RUNNING, 2)

    asyncio.run(story())


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_clock_that_is_set_back_by_hours_ends_the_pause(tmp_path: Path, is_restarted: bool) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            paused = await pausing(one)
            world = one.engine.world
            clock.advance(-3600)
            if not is_restarted:
                assert await one.state_after_a_pass(paused.id) in STARTED
        if is_restarted:
            async with life(tmp_path, clock, world) as again:
                await again.until(paused.id, JobState.RUNNING, 2)

    asyncio.run(story())


def test_the_estimate_of_a_job_that_pauses_is_the_end_of_its_pause(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, FakeClock()) as one:
            paused = await pausing(one)
            assert await one.state_after_a_pass(paused.id) is JobState.QUEUED
            estimate = await one.controller.admission.estimate(paused.id)
            assert estimate is not None
            assert (estimate.expected_at, estimate.latest_at) == (paused.not_before, paused.not_before)
            assert estimate.basis.code == "with_pause"
            told = Reason(paused.reason.code, paused.reason.said, {**paused.reason.facts, "ahead": 0})
            assert await one.controller.admission.explain([paused.id]) == {paused.id: (told, 0)}

    asyncio.run(story())
