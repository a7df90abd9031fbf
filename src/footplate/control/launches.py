"""The effect `LaunchTasks`: launch an attempt, and again for tasks that must be restarted meanwhile."""

from __future__ import annotations

from footplate.control.context import Context
from footplate.control.launch import launch
from footplate.control.observe import Observers
from footplate.control.retrying import keep_trying
from footplate.control.taskpauses import TaskPauses
from footplate.control.work import LAUNCH, JobWork
from footplate.domain.events import LaunchTasks
from footplate.domain.job import Job


class Launches:
    """Launches attempts, one launch of each at a time."""

    def __init__(self, context: Context, work: JobWork, observers: Observers) -> None:
        self._context = context
        self._work = work
        self._observers = observers
        self._again: set[str] = set()
        self._pauses = TaskPauses(context.clock, self._end_pause)

    def launch(self, job: Job, _effect: LaunchTasks) -> None:
        if self._work.is_under_way(LAUNCH, job):
            # A task was given another run meanwhile, which that launch may not know of.
            self._again.add(job.id)
        else:
            self._work.begin(LAUNCH, job, lambda: self._launch(job), lambda: self._end(job))

    async def _launch(self, job: Job) -> None:
        left_out = job.pausing(self._context.clock.now())
        await keep_trying(f"launching job {job.id}", lambda: launch(self._context, job, left_out))
        self._pauses.set_alarm(job, left_out)

    def _end(self, job: Job) -> None:
        self._observers.of(job).hint_after_launch(job.attempt_id)
        self._repeat(job.id)

    def _end_pause(self, job_id: str) -> None:
        self._again.add(job_id)
        self._repeat(job_id)

    def _repeat(self, job_id: str) -> None:
        job = self._context.store.board.get(job_id)
        if job_id in self._again:
            self._again.discard(job_id)
            if job is not None and job.is_with_engine:
                self.launch(job, LaunchTasks(job.attempt))

    def close(self) -> None:
        self._pauses.close()
