"""One attempt of a job as engines know it: a name, and which run of each task is meant.

It is built from the job's row, always: nobody has to describe a launch again to learn what it is called.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from footplate.domain.job import Job


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of one task; `run` counts how often the task was started again by itself."""

    role: str
    index: int
    run: int = 0

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt, or some of its tasks."""

    job_id: str
    number: int
    tasks: tuple[TaskRun, ...]

    @property
    def id(self) -> str:
        return f"{self.job_id}.{self.number}"

    def only(self, tasks: Collection[tuple[str, int]]) -> Attempt:
        """Name just these tasks of it, by role and index."""
        return replace(self, tasks=tuple(task for task in self.tasks if (task.role, task.index) in tasks))


def attempt_of(job: Job) -> Attempt:
    """Name the current attempt of a job."""
    tasks = tuple(TaskRun(task.role, task.index, task.run) for task in job.tasks)
    return Attempt(job.id, job.attempt, tasks)


def job_of(attempt_id: str) -> str:
    """Read from the id of an attempt which job it is of."""
    return attempt_id.rpartition(".")[0]
