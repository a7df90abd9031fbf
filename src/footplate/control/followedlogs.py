"""Logs of tasks that run elsewhere: followed through their engine, and kept in the store as they come."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import partial

from footplate.control.context import Context
from footplate.domain.attempt import Attempt, TaskRun, job_of
from footplate.domain.job import Job
from footplate.domain.states import TaskState
from footplate.engines.base import FollowsLogs, Observation

log = logging.getLogger(__name__)

# For how long the end of a task waits for the last of its output.
LAST_WORDS_S = 10.0
PAUSE_S = 1.0

Key = tuple[str, TaskRun]


class FollowedLogs:
    """Follows every task that runs on an engine whose tasks do not write into the store themselves."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._following: dict[Key, asyncio.Task[None]] = {}

    async def keep_up(self, engine: FollowsLogs, jobs: Iterable[Job], seen: Iterable[Observation]) -> None:
        """Follow those that run by now, and wait for the last words of those that have ended."""
        by_attempt = {job.attempt_id: job for job in jobs}
        ended = []
        for one in seen:
            job = by_attempt.get(one.attempt_id)
            if job is None or one.state not in (TaskState.RUNNING, TaskState.EXITED):
                continue
            task = self._follow(engine, job, TaskRun(one.role, one.index, one.run))
            if one.state is TaskState.EXITED:
                ended.append(task)
        if ended:
            await asyncio.wait(ended, timeout=LAST_WORDS_S)

    def _follow(self, engine: FollowsLogs, job: Job, run: TaskRun) -> asyncio.Task[None]:
        key = (job.attempt_id, run)
        known = self._following.get(key)
        if known is None:
            attempt = Attempt(job.id, job.attempt, (run,))
            start = job.task(run.role, run.index).log_start
            known = asyncio.create_task(self._copy(engine, attempt, run, start), name="footplate-follow")
            self._following[key] = known
        return known

    async def _copy(self, engine: FollowsLogs, attempt: Attempt, run: TaskRun, start: int) -> None:
        """Copy what a run prints to its end, from where the store has it; `start` is where the run begins."""
        kept = self._context.logs.open(attempt.id, run.name)
        while True:
            try:
                offset = max(0, await asyncio.to_thread(lambda: kept.size) - start)
                async for data in engine.follow(attempt, run, offset):
                    await asyncio.to_thread(self._context.logs.append, attempt.id, run.name, data)
            except Exception:  # what goes wrong with one log keeps nobody else from being followed
                log.exception("the log of %s of %s cannot be followed; trying again", run.name, attempt.id)
                await asyncio.sleep(PAUSE_S)
            else:
                return

    def forget(self, job: Job) -> None:
        """Let go of what is known of a job that is over, once its last words are kept."""
        for key in [key for key in self._following if job_of(key[0]) == job.id]:
            task = self._following[key]
            task.add_done_callback(partial(self._drop, key))
            asyncio.get_running_loop().call_later(LAST_WORDS_S, task.cancel)

    def _drop(self, key: Key, _task: asyncio.Task[None]) -> None:
        self._following.pop(key, None)

    async def close(self) -> None:
        for task in self._following.values():
            task.cancel()
        await asyncio.gather(*self._following.values(), return_exceptions=True)
