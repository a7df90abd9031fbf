"""Rules look for their words in what the failed run of a task has printed, not in what an earlier one had."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.domain.states import JobState
from footplate.store.logs import Logs
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock

RULES = [{"action": "retry", "log": "CUDA error", "times": 5}]


def write_log(home: Path, job_id: str, text: str) -> None:
    Logs(home).append(f"{job_id}.0", "main-0", text.encode())


async def retried(one: Life, home: Path) -> str:
    """A job whose task is started again because of its words."""
    job_id = await one.submit(1, task_retry=1, on_failure=RULES)
    await one.until(job_id, JobState.RUNNING)
    write_log(home, job_id, "CUDA error\n")
    one.engine.finish(f"{job_id}.0", code=1)
    again = await one.until_so(job_id, lambda job: job.tasks[0].run == 1 and bool(one.engine.running()))
    assert dict(again.uses) == {"rule-0": 1}
    return job_id


def test_words_of_an_earlier_run_are_no_reason_to_try_again(tmp_path: Path) -> None:
    async def story() -> None:
        clock = FakeClock()
        async with life(tmp_path, clock) as one:
            job_id = await retried(one, tmp_path)
        async with life(tmp_path, clock, one.engine.world) as again:
            write_log(tmp_path, job_id, "something else\n")
            again.engine.finish(f"{job_id}.0", code=1)
            over = await again.until_so(job_id, lambda job: job.state is not JobState.RUNNING)
            assert (over.state, over.attempt, dict(over.uses)) == (JobState.FAILED, 0, {"rule-0": 1})

    asyncio.run(story())


def test_words_of_this_run_are(tmp_path: Path) -> None:
    async def story() -> None:
        async with life(tmp_path, FakeClock()) as one:
            job_id = await retried(one, tmp_path)
            write_log(tmp_path, job_id, "CUDA error\n")
            one.engine.finish(f"{job_id}.0", code=1)
            over = await one.until(job_id, JobState.RUNNING, attempt=1)
            assert dict(over.uses) == {"rule-0": 2}

    asyncio.run(story())
