"""Idle time is that of one run of a task, not of those before it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.alerts import Rule
from footplate.domain.states import JobState
from footplate.store import alert_queries
from footplate.store.activity import Activity
from footplate.store.alertbook import AlertBook
from footplate.testing.control_bench import life
from footplate.testing.fake_clock import FakeClock


def test_a_task_that_is_started_again_has_not_been_idle_yet(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1, idle_limit="10m", task_retry=1)
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await one.controller.watch_progress()
            clock.advance(590)
            await one.controller.watch_progress()
            one.engine.finish(f"{job_id}.0", code=1)
            await one.until_so(
                job_id, lambda job: job.tasks[0].run == 1 and job.tasks[0].started_at == clock.now()
            )
            clock.advance(20)
            await one.controller.watch_progress()
            assert one.store.board[job_id].state is JobState.RUNNING
            clock.advance(600)
            await one.controller.watch_progress()
            await one.until(job_id, JobState.STOPPED)

    asyncio.run(story())


def test_a_job_that_somebody_uses_through_a_service_is_not_idle(tmp_path: Path) -> None:
    async def story() -> None:
        clock, activity = FakeClock(), Activity()
        async with life(tmp_path, clock, activity=activity) as one:
            job_id = await one.submit(1, idle_limit="10m")
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await one.controller.watch_progress()
            clock.advance(590)
            activity.note(job_id, clock.elapsed() - 90)
            # Older news changes nothing.
            activity.note(job_id, clock.elapsed() - 500)
            clock.advance(500)
            await one.controller.watch_progress()
            assert one.store.board[job_id].state is JobState.RUNNING
            clock.advance(10)
            await one.controller.watch_progress()
            await one.until(job_id, JobState.STOPPED)
            assert activity.last(job_id) is None

    asyncio.run(story())


def test_a_job_is_watched_for_progress_when_a_rule_of_its_owner_asks_for_that(tmp_path: Path) -> None:
    async def story() -> None:
        clock, book = FakeClock(), AlertBook()
        async with life(tmp_path, clock, alerts=book) as one:
            job_id = await one.submit(1)
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await one.controller.watch_progress()
            job = one.store.board[job_id]
            assert one.controller.idle_s(job) is None
            rule = Rule("000000000000", job.owner, on=("no_progress",), after_s=60)
            await one.store.write(lambda tx: alert_queries.put_rule(tx.connection, rule))
            await one.store.read(book.load)
            await one.controller.watch_progress()
            clock.advance(90)
            await one.controller.watch_progress()
            assert one.controller.idle_s(job) == 90

    asyncio.run(story())
