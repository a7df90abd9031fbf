"""A hang that was told stays told while the server is started anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.layout import attempt_folder, task_folder
from footplate.domain.states import JobState, ReasonCode
from footplate.store import event_queries
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock


async def look_over(one: Life, clock: FakeClock, seconds: float) -> None:
    for _ in range(4):
        await one.controller.look_at_progress()
        clock.advance(seconds / 4)
    await one.controller.look_at_progress()


async def kinds(one: Life, job_id: str) -> list[str]:
    events = await one.store.read(lambda connection: event_queries.after(connection, 0, 100, job_id))
    return [event.kind for event in events]


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
            folder = task_folder(attempt_folder(tmp_path, job_id, 0), "main", 0)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "log").write_bytes(b"epoch 2\n")
            await again.controller.look_at_progress()
            assert again.store.board[job_id].reason.code is ReasonCode.RUNNING
            assert (await kinds(again, job_id))[-1] == "hang_over"

    asyncio.run(story())
