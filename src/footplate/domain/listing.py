"""A job as a list shows it: what can be read without its tasks and its whole configuration."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.headway import Headway
from footplate.domain.job import Job
from footplate.domain.states import JobState, Reason


@dataclass(frozen=True, slots=True)
class JobLine:
    id: str
    owner: str
    name: str
    description: str
    queue: str
    state: JobState
    reason: Reason
    priority: int
    shared: bool | None
    attempt: int
    retries_used: int
    retry: int
    n_tasks: int
    milli_cpus: int
    memory_bytes: int
    gpus: int
    tags: tuple[str, ...]
    submitted_at: float
    queued_at: float
    started_at: float | None
    running_at: float | None
    finished_at: float | None
    is_deleting: bool
    kept_until: float | None
    deleted_at: float | None


def line_of(job: Job) -> JobLine:
    """The line that a job has in a list."""
    spec, amount = job.spec, job.spec.resources
    return JobLine(
        id=job.id,
        owner=job.owner,
        name=spec.name,
        description=spec.description,
        queue=spec.queue,
        state=job.state,
        reason=job.reason,
        priority=spec.priority,
        shared=spec.shared,
        attempt=job.attempt,
        retries_used=job.retries_used,
        retry=spec.retry,
        n_tasks=spec.n_tasks,
        milli_cpus=amount.milli_cpus,
        memory_bytes=amount.memory_bytes,
        gpus=amount.gpus,
        tags=spec.tags,
        submitted_at=job.submitted_at,
        queued_at=job.queued_at,
        started_at=job.started_at,
        running_at=job.running_at,
        finished_at=job.finished_at,
        is_deleting=job.is_deleting,
        kept_until=job.kept_until,
        deleted_at=job.deleted_at,
    )


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A line as somebody sees it: whole, or an outline of a job that is private to others.

    `reason` is the newest word on why the job is in its state, `position` how many jobs are ahead of it.
    """

    line: JobLine
    reason: Reason
    position: int | None
    is_shared: bool
    is_readable: bool
    headway: Headway | None = None
