"""A hang that was told stays told while the server is started anew."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest

from footplate.domain.states import JobState, ReasonCode
from footplate.store import event_queries
from footplate.store.logs import Logs
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock


async def look_over(one: Life, clock: FakeClock, seconds: float) -> None:
    for _ in range(4):
        await one.controller.watch_progress()
        clock.advance(seconds / 4)
    await one.controller.watch_progress()


async def kinds(one: Life, job_id: str) -> list[str]:
    events = await one.store.read(lambda connection: event_queries.after(connection, 0, 100, job_id))
    return [event.kind for event in events]


def test_setting_the_clock_makes_no_busy_task_hang(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1, hang={"after": "10m", "action": "stop"}, idle_limit="20m")
            await one.until(job_id, JobState.RUNNING)
            await look_over(one, clock, 60)
            clock.jump(3600)
            await look_over(one, clock, 60)
            clock.jump(-7200)
            await look_over(one, clock, 60)
            assert one.store.board[job_id].state is JobState.RUNNING
            assert "hang" not in await kinds(one, job_id)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await look_over(one, clock, 700)
            assert (await one.until(job_id, JobState.FAILED)).reason.code is ReasonCode.HANG

    asyncio.run(story())


def test_a_hang_that_could_not_be_written_is_told_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1, hang={"after": "10m", "action": "stop"})
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await look_over(one, clock, 590)
            clock.advance(20)
            with monkeypatch.context() as patched:
                patched.setattr(one.store, "write", full)
                with pytest.raises(OSError, match="No space left"):
                    await one.controller.watch_progress()
            await one.controller.watch_progress()
            await one.until(job_id, JobState.FAILED)
            assert (await kinds(one, job_id)).count("hang") == 1

    async def full(_unit: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    asyncio.run(story())


def test_a_hang_is_told_once_over_a_restart_and_ends_with_progress(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await one.submit(1, hang="10m")
            await one.until(job_id, JobState.RUNNING)
            one.engine.world.idle.add((f"{job_id}.0", "main", 0))
            await look_over(one, clock, 700)
            assert one.store.board[job_id].reason.code is ReasonCode.HANG
        async with life(tmp_path, clock, one.engine.world) as again:
            await look_over(again, clock, 60)
            assert again.store.board[job_id].reason.code is ReasonCode.HANG, "nobody saw it move"
            await look_over(again, clock, 700)
            assert (await kinds(again, job_id)).count("hang") == 1
            Logs(tmp_path).append(f"{job_id}.0", "main-0", b"epoch 2\n")
            await again.controller.watch_progress()
            assert again.store.board[job_id].reason.code is ReasonCode.RUNNING
            assert (await kinds(again, job_id))[-1] == "hang_over"

    asyncio.run(story())
