"""Several engines behind one server: each job runs on the engine of its nodes, and none holds up another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.attempt import Attempt
from footplate.domain.cluster import Node, Placement, Whereabouts
from footplate.domain.errors import EngineUnavailable
from footplate.domain.resources import GIB
from footplate.domain.states import JobState
from footplate.engines.base import Observation
from footplate.engines.router import Engines
from footplate.testing.builders import job
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine

HERE = Node("here", 1000, 4 * GIB)
FAR = Node("far", 4000, 16 * GIB)


class Hangs(FakeEngine):
    """Does not answer when it is asked about tasks."""

    is_silent = False

    async def nodes(self) -> Sequence[Node]:
        if self.is_silent:
            await asyncio.Event().wait()
        return await super().nodes()

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        if attempts:
            await asyncio.Event().wait()
        return ()


@asynccontextmanager
async def two_engines(
    home: Path, far: type[FakeEngine] = FakeEngine
) -> AsyncIterator[tuple[Life, FakeEngine]]:
    clock = FakeClock()
    other = far(clock, [FAR])
    async with life(home, clock, node=HERE, more_engines={"other": other}) as one:
        yield one, other


def test_a_job_runs_on_the_engine_of_its_node(tmp_path: Path) -> None:
    async def story() -> None:
        async with two_engines(tmp_path) as (one, other):
            small = await one.submit(1, cpus=1)
            await one.until(small, JobState.RUNNING)
            large = await one.submit(2, cpus=3)
            placed = await one.until(large, JobState.RUNNING)
            assert placed.placement is not None
            assert placed.placement.engine == "other"
            assert [attempt_id for attempt_id, _, _ in other.running()] == [f"{large}.0"]
            assert [attempt_id for attempt_id, _, _ in one.engine.running()] == [f"{small}.0"]
            other.finish(f"{large}.0")
            await one.until(large, JobState.SUCCEEDED)

    asyncio.run(story())


def test_a_gang_does_not_straddle_engines(tmp_path: Path) -> None:
    async def story() -> None:
        async with two_engines(tmp_path) as (one, _other):
            # One task each would find room on both nodes together, and on neither alone.
            gang = await one.submit(1, cpus=1, count=5)
            assert await one.state_after_a_pass(gang) is JobState.QUEUED
            fitting = await one.submit(2, cpus=1, count=4)
            placed = await one.until(fitting, JobState.RUNNING)
            assert {task.node for task in placed.tasks} == {"far"}

    asyncio.run(story())


def test_an_engine_that_hangs_holds_up_its_own_jobs_only(tmp_path: Path) -> None:
    async def story() -> None:
        async with two_engines(tmp_path, Hangs) as (one, _other):
            large = await one.submit(1, cpus=3)
            await one.until(large, JobState.STARTING)
            small = await one.submit(2, cpus=1)
            await one.until(small, JobState.RUNNING)
            one.engine.finish(f"{small}.0")
            await one.until(small, JobState.SUCCEEDED)
            assert one.store.board[large].state is JobState.STARTING

    asyncio.run(story())


def test_an_engine_that_is_not_configured_any_more_is_named() -> None:
    engines = Engines({"local": FakeEngine()}, FakeClock())
    lost = replace(job(), placement=Placement((), engine="gone"))
    with pytest.raises(EngineUnavailable, match="engine gone is not configured"):
        engines.of(lost)


class Away(FakeEngine):
    """Cannot be reached to look at tasks; counts how often somebody tries."""

    n_asked = 0

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        self.n_asked += 1
        raise EngineUnavailable("port_closed", port=1, address="far", error="nobody is there")


def test_an_engine_that_is_away_is_asked_more_and_more_seldom(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, kind=Away, node=Node("fake", 8000, 16 * GIB)) as one:
            assert isinstance(one.engine, Away)
            for number in range(8):
                await one.until(await one.submit(number), JobState.STARTING)
            observer = one.controller.observers.by_engine["local"]
            clock.advance(100)
            one.engine.n_asked = 0
            await observer.observe_all()
            assert one.engine.n_asked == 4, "all at once, then three of eight by themselves"
            await observer.observe_all()
            assert one.engine.n_asked == 4, "not again before its pause is over"
            clock.advance(100)
            await observer.observe_all()
            assert one.engine.n_asked == 8

    asyncio.run(story())


class Busy(FakeEngine):
    """Has strangers at every port."""

    def is_port_free(self, node: str, port: int) -> bool:
        return False


def test_the_engine_of_a_node_says_which_of_its_ports_are_free() -> None:
    engines = Engines({"local": FakeEngine(), "other": Busy()}, FakeClock())
    assert engines.is_port_free("", "here", 6006)
    assert engines.is_port_free("local", "here", 6006)
    assert not engines.is_port_free("other", "far", 6006)
    assert engines.is_port_free("gone", "nowhere", 6006)


class Chooses(FakeEngine):
    """Runs tasks where it likes, with cards and ports of its own choice."""

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        where = Whereabouts("elsewhere", "10.0.0.7", (3,), (("main", (7777,)),))
        seen = await super().observe(attempts)
        return [replace(one, where=where if one.started_at else None) for one in seen]


def test_what_an_engine_chooses_by_itself_is_learned_when_the_task_runs(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, kind=Chooses) as one:
            job_id = await one.submit(1)
            running = await one.until(job_id, JobState.RUNNING)
            (task,) = running.tasks
            assert (task.node, task.address, task.gpus) == ("elsewhere", "10.0.0.7", (3,))
            assert task.ports == (("main", (7777,)),)
            assert running.placement is not None
            assert running.placement.tasks[0].node == "elsewhere"
        async with life(tmp_path, clock, one.engine.world) as again:
            assert again.store.board[job_id].tasks == running.tasks, "stored, not only remembered"

    asyncio.run(story())


class Silent(Hangs):
    """Never answers."""

    is_silent = True


def test_a_server_starts_without_an_engine_that_does_not_answer(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(10), two_engines(tmp_path, Silent) as (one, _other):
            small = await one.submit(1, cpus=1)
            await one.until(small, JobState.RUNNING)
            assert [node.name for node in one.cluster.nodes] == ["here"]

    asyncio.run(story())
