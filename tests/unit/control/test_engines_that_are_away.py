"""An engine that does not answer: its jobs wait for it, without failing and without asking one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from footplate.domain.cluster import Node
from footplate.domain.events import StopAsked
from footplate.domain.messages import say
from footplate.domain.resources import GIB
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store import event_queries
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.misbehaving import GoesAway

WIDE = Node("fake", 8000, 16 * GIB)


@asynccontextmanager
async def away(home: Path) -> AsyncIterator[tuple[Life, GoesAway, FakeClock]]:
    """A server whose engine has gone away since it named its nodes."""
    clock = FakeClock()
    async with life(home, clock, node=WIDE, kind=GoesAway) as one:
        assert isinstance(one.engine, GoesAway)
        one.engine.is_away = True
        yield one, one.engine, clock


async def until_asked(engine: GoesAway) -> None:
    async with asyncio.timeout(10):
        while not engine.n_asked:
            await asyncio.sleep(0.002)


async def kinds_of(one: Life, job_id: str) -> list[str]:
    events = await one.store.read(lambda connection: event_queries.after(connection, 0, 100, job_id))
    return [event.kind for event in events]


def test_a_job_starts_when_its_engine_is_back_and_no_retry_is_used(tmp_path: Path) -> None:
    async def story() -> None:
        async with away(tmp_path) as (one, engine, clock):
            job_id = await one.submit(1)
            await until_asked(engine)
            assert one.store.board[job_id].state is JobState.STARTING
            engine.is_away = False
            clock.advance(2)
            running = await one.until(job_id, JobState.RUNNING)
            assert (running.attempt, dict(running.uses)) == (0, {})
            assert (await kinds_of(one, job_id)).count("start_delayed") == 1

    asyncio.run(story())


def test_an_engine_that_is_away_is_asked_once_for_all_jobs(tmp_path: Path) -> None:
    async def story() -> None:
        async with away(tmp_path) as (one, engine, clock):
            first = await one.submit(1)
            await until_asked(engine)
            later = [await one.submit(number) for number in range(2, 6)]
            # Long enough for reasons to be stored again, and shorter than the engine's first pause.
            clock.advance(0.6)
            await one.controller.admission.run_pass()
            assert engine.n_asked == 1, "not again before its pause is over, whoever waits"
            for job_id in later:
                job = await one.until_so(job_id, lambda job: job.reason.code is ReasonCode.ENGINE_AWAY)
                assert job.state is JobState.QUEUED, "nothing is placed where nothing can start"
            engine.is_away = False
            clock.advance(2)
            for job_id in (first, *later):
                await one.until(job_id, JobState.RUNNING)

    asyncio.run(story())


def test_a_job_that_waits_for_its_engine_can_be_stopped(tmp_path: Path) -> None:
    async def story() -> None:
        async with away(tmp_path) as (one, engine, clock):
            job_id = await one.submit(1)
            await until_asked(engine)
            asked = StopAsked(clock.now(), Reason(ReasonCode.STOPPED_BY_USER, say("trash_over")), "ann")
            await one.tell(job_id, asked)
            await one.until(job_id, JobState.STOPPING)
            engine.is_away = False
            stopped = await one.until(job_id, JobState.STOPPED)
            assert engine.world.n_starts == 0
            assert stopped.attempt == 0

    asyncio.run(story())
