"""The fakes do what their names say."""

from __future__ import annotations

import asyncio

import pytest

from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.errors import EngineRejected, EngineUnavailable, OutcomeUnknown
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Request
from footplate.testing import misbehaving as fakes
from footplate.testing.engine_bench import plan
from footplate.testing.fake_clock import FakeClock

LAUNCHED = Attempt("j", 0, (TaskRun("main", 0),))


def request_of(engine: fakes.FakeEngine, command: str = "train") -> Request:
    return engine.compile(plan(RoleSpec(command), job_id="j"))


async def state_of(engine: fakes.FakeEngine) -> TaskState:
    (one,) = await engine.observe([LAUNCHED])
    return one.state


def test_a_task_sleeps_as_long_as_the_clock_says() -> None:
    async def main() -> None:
        clock = FakeClock(now=100)
        engine = fakes.FakeEngine(clock)
        await engine.launch(request_of(engine, "sleep 5"))
        clock.advance(4)
        assert await state_of(engine) is TaskState.RUNNING
        clock.advance(2)
        (seen,) = await engine.observe([LAUNCHED])
        assert (seen.exit_code, seen.started_at, seen.finished_at) == (0, 100, 105)

    asyncio.run(main())


def test_a_task_runs_until_it_is_finished_by_hand_and_the_end_is_hinted() -> None:
    async def main() -> None:
        engine = fakes.FakeEngine()
        hints: list[str] = []
        engine.on_change(hints.append)
        await engine.launch(request_of(engine))
        assert engine.running() == [("j.0", "main", 0)]
        await asyncio.sleep(0)
        hints.clear()
        engine.finish("j.0", code=3)
        await asyncio.sleep(0)
        assert hints == ["j.0"]
        (seen,) = await engine.observe([LAUNCHED])
        assert seen.exit_code == 3

    asyncio.run(main())


def test_the_slow_one_starts_when_let() -> None:
    async def main() -> None:
        engine = fakes.SlowToStart()
        await engine.launch(request_of(engine))
        assert await state_of(engine) is TaskState.STARTING
        engine.let_start("j.0")
        assert await state_of(engine) is TaskState.RUNNING

    asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (fakes.DiesOnLaunch, EngineUnavailable),
        (fakes.RefusesLaunch, EngineRejected),
        (fakes.LosesAnswers, OutcomeUnknown),
    ],
)
def test_failing_launches_fail_in_their_own_way(kind: type[fakes.FakeEngine], error: type[Exception]) -> None:
    async def main() -> None:
        engine = kind()
        request = request_of(engine)
        with pytest.raises(error):
            await engine.launch(request)
        expected = TaskState.RUNNING if kind is fakes.LosesAnswers else TaskState.WAITING
        assert await state_of(engine) is expected

    asyncio.run(main())


def test_the_one_that_dies_recovers_after_so_many_failures() -> None:
    async def main() -> None:
        engine = fakes.DiesOnLaunch(n_failures=1)
        request = request_of(engine)
        with pytest.raises(EngineUnavailable):
            await engine.launch(request)
        await engine.launch(request)
        assert await state_of(engine) is TaskState.RUNNING

    asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "state"), [(fakes.NeverStarts, TaskState.WAITING), (fakes.LosesTasks, TaskState.LOST)]
)
def test_tasks_that_are_not_there(kind: type[fakes.FakeEngine], state: TaskState) -> None:
    async def main() -> None:
        engine = kind()
        await engine.launch(request_of(engine))
        assert await state_of(engine) is state

    asyncio.run(main())


def test_the_late_one_acts_at_once_and_answers_later() -> None:
    async def main() -> None:
        engine = fakes.AnswersLate()
        request = request_of(engine)
        launching = asyncio.create_task(engine.launch(request))
        await asyncio.sleep(0)
        assert await state_of(engine) is TaskState.RUNNING
        assert not launching.done()
        engine.answer()
        await launching

    asyncio.run(main())
