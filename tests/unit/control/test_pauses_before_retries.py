"""Pauses before retries on a real store with a fake engine: woken in time, kept over restarts, bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footplate.control import controller as controllers
from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.domain import job as jobs
from footplate.domain.clock import Clock
from footplate.domain.cluster import Node, Queue
from footplate.domain.job import Job
from footplate.domain.pauses import Pauses
from footplate.domain.resources import GIB
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.server.clock import SystemClock
from footplate.store import queue_queries, transitions
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine, sqlite_url
from footplate.store.migrate import migrate
from footplate.store.store import Store
from footplate.testing.builders import spec
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine, FakeWorld

NODE = Node("fake", 1000, 4 * GIB)


@pytest.fixture(autouse=True)
def only_the_alarm_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the pass that explains twice a second, which would find the end of a pause by chance."""
    monkeypatch.setattr(controllers, "EXPLAIN_EVERY_S", 3600.0)


class Life:
    """One life of a server, over what lives longer: the database and the tasks."""

    def __init__(self, store: Store, engine: FakeEngine, controller: Controller, clock: Clock) -> None:
        self.store = store
        self.engine = engine
        self.controller = controller
        self.clock = clock

    async def submit(self, number: int) -> str:
        asked = spec(name=f"job-{number}", command="wait for the test")
        job = jobs.submit(f"{number:012d}", "ann", asked, self.clock.now())
        await self.store.write(lambda tx: transitions.insert(tx, job))
        return job.id

    async def until(self, job_id: str, state: JobState, attempt: int) -> Job:
        async with asyncio.timeout(10):
            while (job := self.store.board[job_id]).state is not state or job.attempt != attempt:
                await asyncio.sleep(0.002)
        return job

    async def pausing(self) -> Job:
        """A job whose task was lost twice."""
        job_id = await self.submit(1)
        for attempt in (0, 1):
            await self.until(job_id, JobState.RUNNING, attempt)
            self.engine.lose(f"{job_id}.{attempt}")
        return await self.until(job_id, JobState.QUEUED, 2)

    async def state_after_a_pass(self, job_id: str) -> JobState:
        await self.controller.admission.run_pass()
        return self.store.board[job_id].state


@asynccontextmanager
async def life(
    home: Path, clock: Clock, world: FakeWorld | None = None, pauses: Pauses | None = None
) -> AsyncIterator[Life]:
    database = open_engine(sqlite_url(home))
    migrate(database)
    store, cluster, engine = Store(database, "test", clock.now()), Cluster(), FakeEngine(clock, [NODE], world)
    if world is None:
        await store.write(lambda tx: queue_queries.add_queue(tx.connection, Queue("default"), 0.0))
    await store.read(cluster.load)
    context = Context(
        store, cluster, Blobs(home / "blobs"), engine, clock, home, pauses=pauses or Pauses(4, 100)
    )
    controller = Controller(context)
    await controller.start()
    try:
        yield Life(store, engine, controller, clock)
    finally:
        await controller.close()
        store.close()


def test_a_job_starts_as_soon_as_its_pause_is_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), pauses=Pauses(0.3, 10)) as one:
            paused = await one.pausing()
            assert paused.not_before is not None
            started = await one.until(paused.id, JobState.RUNNING, 2)
            assert started.started_at is not None
            assert 0 <= started.started_at - paused.not_before < 0.25

    asyncio.run(story())


def test_others_run_while_a_job_pauses_and_none_is_woken_late(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, SystemClock(), pauses=Pauses(0.5, 10)) as one:
            paused = await one.pausing()
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
            paused = await one.pausing()
            world = one.engine.world
        clock.advance(3)
        async with life(tmp_path, clock, world) as again:
            assert again.store.board[paused.id] == paused
            assert await again.state_after_a_pass(paused.id) is JobState.QUEUED
            clock.advance(1)
            assert await again.state_after_a_pass(paused.id) is JobState.STARTING

    asyncio.run(story())


def test_a_pause_that_ended_while_the_server_was_down_holds_nothing_up(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            paused = await one.pausing()
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
            paused = await one.pausing()
            world = one.engine.world
            clock.advance(-3600)
            if not is_restarted:
                assert await one.state_after_a_pass(paused.id) is JobState.STARTING
        if is_restarted:
            async with life(tmp_path, clock, world) as again:
                await again.until(paused.id, JobState.RUNNING, 2)

    asyncio.run(story())


def test_the_estimate_of_a_job_that_pauses_is_the_end_of_its_pause(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, FakeClock()) as one:
            paused = await one.pausing()
            assert await one.state_after_a_pass(paused.id) is JobState.QUEUED
            estimate = await one.controller.admission.estimate(paused.id)
            assert estimate is not None
            assert (estimate.expected_at, estimate.latest_at) == (paused.not_before, paused.not_before)
            assert "it pauses before it is tried again" in estimate.basis
            assert one.controller.admission.explain(paused.id) == (
                Reason(paused.reason.code, paused.reason.message, {**paused.reason.details, "ahead": 0}),
                0,
            )

    asyncio.run(story())
