"""Estimates stay cheap: made one at a time, kept for a while, given up where too much is ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from footplate.control import estimates
from footplate.control.durations import Durations
from footplate.control.estimates import GOOD_FOR_S, MOST_AHEAD, Estimates
from footplate.domain.job import Job
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import Snapshot
from footplate.testing.builders import AT
from footplate.testing.builders import running as running_job
from footplate.testing.scheduling import node, pending, role, running, snapshot


class Board(dict[str, Job]):
    """Other threads change it at any moment, so that nobody may walk over it."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("somebody walks over the board")

    keys = values = items = __iter__  # type: ignore[assignment]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs for which the scheduler was run ahead."""
    real, asked = estimates.start_of, []

    def start_of(job_id: str, *rest: object) -> float | None:
        asked.append(job_id)
        return real(job_id, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(estimates, "start_of", start_of)
    return asked


def crowd(n_waiting: int) -> Snapshot:
    waiting = [pending(f"j{n:04}", role(cpus=2), queued_at=n) for n in range(n_waiting)]
    return snapshot([node(cpus=2)], waiting, [running("x", cpus=2)])


BOARD = Board(x=replace(running_job(time_limit="10m", grace="0s"), id="x"))


async def tell(estimating: Estimates, job_id: str, state: Snapshot) -> estimates.Estimate:
    return await estimating.tell(job_id, plan(state, Policy(), AT), state, Policy(), AT, BOARD, Durations())


def test_a_job_with_too_many_ahead_is_told_so_without_running_the_scheduler(simulated: list[str]) -> None:
    state = crowd(MOST_AHEAD + 1)
    told = asyncio.run(tell(Estimates(), state.pending[-1].id, state))
    assert (told.expected_at, told.latest_at) == (None, None)
    assert str(told.basis) == f"no estimate: {MOST_AHEAD} jobs ahead"
    assert simulated == []


def test_the_same_question_is_answered_once_for_a_plan_and_a_while(simulated: list[str]) -> None:
    state = crowd(3)
    last = plan(state, Policy(), AT)
    estimating = Estimates()

    async def ask(job_id: str, at: float = AT) -> estimates.Estimate:
        return await estimating.tell(job_id, last, state, Policy(), at, BOARD, Durations())

    async def story() -> None:
        first = await asyncio.gather(*(ask("j0000") for _ in range(20)))
        assert {one.latest_at for one in first} == {AT + 602}
        assert simulated == ["j0000"]
        await ask("j0001", AT + 1)
        await ask("j0000", AT + GOOD_FOR_S)
        assert simulated == ["j0000", "j0001"]
        await ask("j0000", AT + GOOD_FOR_S + 1)
        await ask("j0000", AT - 60)
        assert simulated == ["j0000", "j0001", "j0000", "j0000"]

    asyncio.run(story())


def test_another_plan_means_another_answer(simulated: list[str]) -> None:
    estimating, state = Estimates(), crowd(1)

    async def story() -> None:
        await tell(estimating, "j0000", state)
        await tell(estimating, "j0000", state)

    asyncio.run(story())
    assert simulated == ["j0000", "j0000"]
