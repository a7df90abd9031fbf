"""Jobs of a queue whose engine places by itself: handed over whole, told of, and stopped where they wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from footplate.control.waitnews import store_waits
from footplate.domain.cluster import Node, Queue
from footplate.domain.events import StopAsked, WaitExplained
from footplate.domain.messages import text
from footplate.domain.resources import GIB
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.store import event_queries, queue_queries
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeWorld
from footplate.testing.placing_engine import PlacingEngine

THEIRS = Node("n17", 4000, 16 * GIB, address="10.0.0.17")
BY_ANN = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))


@asynccontextmanager
async def beside_slurm(
    home: Path, clock: FakeClock, world: FakeWorld | None = None, ours: FakeWorld | None = None
) -> AsyncIterator[tuple[Life, PlacingEngine]]:
    """A server with nodes of its own, and a queue `batch` of an engine that places by itself."""
    slurm = PlacingEngine(clock, [THEIRS], world)
    async with life(home, clock, ours, more_engines={"slurm": slurm}) as one:
        if ours is None:
            batch = Queue("batch", engine="slurm")
            await one.store.write(lambda tx: queue_queries.add_queue(tx.connection, batch, 0.0))
        await one.store.read(one.cluster.load)
        yield one, slurm


async def one_runs_and_one_waits(one: Life) -> tuple[str, str]:
    """Fill the engine with one job, and let it queue another."""
    first = await one.submit(1, queue="batch", cpus=4)
    await one.until(first, JobState.RUNNING)
    second = await one.submit(2, queue="batch", cpus=4)
    await one.until_so(second, lambda job: job.is_handed_over)
    return first, second


def test_a_job_is_handed_over_whole_and_learns_where_it_runs(tmp_path: Path) -> None:
    async def story() -> None:
        async with beside_slurm(tmp_path, FakeClock()) as (one, slurm):
            gang = await one.submit(1, queue="batch", cpus=2, count=2)
            running = await one.until(gang, JobState.RUNNING)
            assert running.placement is not None
            assert running.placement.engine == "slurm"
            assert {task.node for task in running.tasks} == {"n17"}
            assert {task.address for task in running.placement.tasks} == {"10.0.0.17"}
            assert all(task.ports for task in running.tasks)
            for index in range(2):
                slurm.finish(f"{gang}.0", index=index)
            done = await one.until(gang, JobState.SUCCEEDED)
            assert done.started_at is not None

    asyncio.run(story())


def test_a_job_that_waits_there_tells_the_engines_reason_position_and_time(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with beside_slurm(tmp_path, clock) as (one, slurm):
            first = await one.submit(1, queue="batch", cpus=4)
            await one.until(first, JobState.RUNNING)
            slurm.expected_at = clock.now() + 600
            second = await one.submit(2, queue="batch", cpus=4)
            third = await one.submit(3, queue="batch", cpus=4)
            waiting = await one.until_so(third, lambda job: job.reason.code is ReasonCode.BEHIND_OTHERS)
            assert (waiting.state, waiting.attempt) == (JobState.QUEUED, 0)
            assert {task.state for task in waiting.tasks} == {TaskState.WAITING}
            admission = one.controller.admission
            async with asyncio.timeout(10):
                while third not in await admission.explain([third]):
                    await asyncio.sleep(0.002)
            assert await admission.explain([second, third]) == {
                second: (one.store.board[second].reason, 0),
                third: (one.store.board[third].reason, 1),
            }
            estimate = await admission.estimate(second)
            assert estimate is not None
            assert estimate.expected_at == slurm.expected_at
            assert admission.order == (second, third)
            slurm.finish(f"{first}.0")
            await one.until(second, JobState.RUNNING)
            await one.until_so(third, lambda job: job.reason.code is ReasonCode.INSUFFICIENT_RESOURCES)

    asyncio.run(story())


def test_a_job_that_waits_there_can_be_stopped_and_deleted(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with beside_slurm(tmp_path, clock) as (one, slurm):
            _first, second = await one_runs_and_one_waits(one)
            await one.tell(second, StopAsked(clock.now(), BY_ANN, "ann"))
            stopped = await one.until(second, JobState.STOPPED)
            assert stopped.placement is None
            assert not slurm.world.line
            assert slurm.world.n_starts == 1

    asyncio.run(story())


def test_a_job_that_waits_there_is_found_again_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with beside_slurm(tmp_path, clock) as (one, slurm):
            first, second = await one_runs_and_one_waits(one)
        async with beside_slurm(tmp_path, clock, slurm.world, one.engine.world) as (again, slurm_again):
            assert again.store.board[second].is_handed_over
            slurm_again.finish(f"{first}.0")
            await again.until(second, JobState.RUNNING)
            assert slurm_again.world.n_starts == 2

    asyncio.run(story())


def test_jobs_with_us_do_not_wait_for_those_that_wait_elsewhere(tmp_path: Path) -> None:
    async def story() -> None:
        async with beside_slurm(tmp_path, FakeClock()) as (one, _slurm):
            for number in range(3):
                await one.submit(number, queue="batch", cpus=4)
            ours = await one.submit(9, cpus=1)
            running = await one.until(ours, JobState.RUNNING)
            assert running.tasks[0].node == "fake"

    asyncio.run(story())


def test_the_events_of_a_handed_over_job_tell_its_way(tmp_path: Path) -> None:
    async def story() -> None:
        async with beside_slurm(tmp_path, FakeClock()) as (one, _slurm):
            job_id = await one.submit(1, queue="batch")
            await one.until(job_id, JobState.RUNNING)
            events = await one.store.read(lambda connection: event_queries.after(connection, 0, 100, job_id))
            kinds = [event.kind for event in events]
            assert kinds[:2] == ["submitted", "waiting"]
            assert "engine slurm" in events[1].message
            assert kinds[-1] == "running"

    asyncio.run(story())


def test_what_an_engine_says_too_late_of_a_wait_changes_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with beside_slurm(tmp_path, clock) as (one, slurm):
            first, second = await one_runs_and_one_waits(one)
            waiting = one.store.board[second]
            late = WaitExplained(clock.now(), 0, Reason(ReasonCode.BEHIND_OTHERS, text("long ago")))
            slurm.finish(f"{first}.0")
            running = await one.until(second, JobState.RUNNING)
            await store_waits(one.store, [(second, late), ("gone", late)], in_engine=True)
            assert one.store.board[second].reason == running.reason != waiting.reason

    asyncio.run(story())


def test_an_engine_that_goes_away_while_jobs_wait_in_it_is_left_alone(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with beside_slurm(tmp_path, clock) as (one, slurm):
            _first, second = await one_runs_and_one_waits(one)
            await one.until_so(second, lambda job: job.reason.code is ReasonCode.INSUFFICIENT_RESOURCES)
            slurm.is_mute = True
            observer = one.controller.observers.by_engine["slurm"]
            await observer.observe_all()
            assert observer.is_paused
            assert one.store.board[second].is_handed_over
            slurm.is_mute = False
            clock.advance(100)
            await observer.observe_all()
            assert not observer.is_paused

    asyncio.run(story())
