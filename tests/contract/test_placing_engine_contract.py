"""An engine that places by itself keeps the contract like every other."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.resources import Resources
from footplate.domain.states import ReasonCode, TaskState
from footplate.testing.contract import RUNS_LONG, EngineContract
from footplate.testing.engine_bench import Bench, on_loop
from footplate.testing.fake_engine import FakeWorld
from footplate.testing.placing_engine import PlacingEngine

ALL = Resources(8000, 2**30)


class TestPlacingEngine(EngineContract):
    def make_engine(self, home: Path) -> PlacingEngine:
        self.world = getattr(self, "world", None) or FakeWorld()
        return PlacingEngine(world=self.world)

    @on_loop
    async def test_what_finds_no_room_waits_and_says_why(self, bench: Bench) -> None:
        first = await bench.launch(RUNS_LONG, attempt=0, resources=ALL)
        second = await bench.launch(RUNS_LONG, attempt=1, resources=ALL)
        third = await bench.launch(RUNS_LONG, attempt=2, resources=ALL)
        assert isinstance(bench.engine, PlacingEngine)
        assert (await bench.see_one(second)).state is TaskState.WAITING
        waits = await bench.engine.waits([first, second, third])
        assert [(one.attempt_id, one.ahead) for one in waits] == [(second.id, 0), (third.id, 1)]
        assert waits[0].reason.code is ReasonCode.INSUFFICIENT_RESOURCES
        await bench.engine.stop(first, 0)
        assert (await bench.see_one(second)).state is TaskState.RUNNING

    @on_loop
    async def test_where_a_task_runs_comes_with_the_task(self, bench: Bench) -> None:
        seen = await bench.see_one(await bench.launch(RUNS_LONG))
        assert seen.where is not None
        assert seen.where.node == "fake"
        assert seen.where.ports

    @on_loop
    async def test_what_is_stopped_while_it_waits_never_starts(self, bench: Bench) -> None:
        first = await bench.launch(RUNS_LONG, attempt=0, resources=ALL)
        second = await bench.launch(RUNS_LONG, attempt=1, resources=ALL)
        await bench.engine.stop(second, 0)
        await bench.engine.stop(first, 0)
        seen = await bench.see_one(second)
        assert (seen.state, seen.started_at) == (TaskState.EXITED, None)

    @on_loop
    async def test_what_waits_still_waits_after_a_restart(self, bench: Bench) -> None:
        await bench.launch(RUNS_LONG, attempt=0, resources=ALL)
        second = await bench.launch(RUNS_LONG, attempt=1, resources=ALL)
        await bench.restart()
        assert isinstance(bench.engine, PlacingEngine)
        assert [one.attempt_id for one in await bench.engine.waits([second])] == [second.id]
