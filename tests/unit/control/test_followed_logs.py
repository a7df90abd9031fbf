"""Logs of an engine whose tasks print elsewhere are kept in the store, to the last word."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.attempt import Attempt
from footplate.domain.events import StopAsked
from footplate.domain.messages import text
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.engines.base import Notice
from footplate.store.logs import Logs
from footplate.testing.control_bench import life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine


async def until_kept(home: Path, job_id: str, content: bytes) -> None:
    log = Logs(home).open(f"{job_id}.0", "main-0")
    async with asyncio.timeout(10):
        while log.read(0, 1000).data != content:
            await asyncio.sleep(0.002)


def test_what_a_task_prints_is_kept_over_a_restart_of_the_server_and_once(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1)
            await one.until(job_id, JobState.RUNNING)
            one.engine.say(f"{job_id}.0", b"epoch 1\n")
            await until_kept(tmp_path, job_id, b"epoch 1\n")
        one.engine.say(f"{job_id}.0", b"epoch 2\n")
        async with life(tmp_path, clock, one.engine.world) as again:
            again.engine.say(f"{job_id}.0", b"epoch 3\n")
            again.engine.finish(f"{job_id}.0")
            await again.until(job_id, JobState.SUCCEEDED)
            log = Logs(tmp_path).open(f"{job_id}.0", "main-0")
            assert log.read(0, 1000).data == b"epoch 1\nepoch 2\nepoch 3\n", "before its end is told"

    asyncio.run(story())


class SaysGoodbye(FakeEngine):
    """Its tasks print something while they are stopped."""

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        for task in attempt.tasks:
            if (attempt.id, task.role, task.index) in self.running():
                self.say(attempt.id, b"saved\n", task.role, task.index)
        await super().stop(attempt, grace_s, notice)


def test_what_a_task_prints_while_it_is_stopped_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock, kind=SaysGoodbye) as one:
            job_id = await one.submit(1)
            await one.until(job_id, JobState.RUNNING)
            reason = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
            await one.tell(job_id, StopAsked(clock.now(), reason, "ann"))
            await one.until(job_id, JobState.STOPPED)
            await until_kept(tmp_path, job_id, b"saved\n")

    asyncio.run(story())
