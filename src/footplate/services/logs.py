"""Which task and which log a caller means."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.domain.mask import Mask
from footplate.services.platform import Platform
from footplate.store.logfiles import LogFile

Times = list[tuple[float, int]]


def task_names(job: Job, wanted: Sequence[str]) -> list[str]:
    """The tasks that a caller means, all when none is named; `role/0` and `role-0` are the same."""
    names = [task.name for task in job.tasks]
    known = set(names)
    for one in wanted:
        if one.replace("/", "-") not in known:
            few = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            raise NotFound("no_task_but", job=job.id, task=one[:80], some=few)
    return [one.replace("/", "-") for one in wanted] or names


def task_name(job: Job, wanted: str | None) -> str:
    """The task that a caller means: the first when none is named."""
    return task_names(job, [] if wanted is None else [wanted])[0]


def log_of(platform: Platform, job: Job, name: str, attempt: int | None, mask: Mask) -> LogFile:
    """The log of one task in one attempt, the current one when none is named."""
    return platform.logs.open(attempt_id_of(job, attempt), name, mask)


def attempt_id_of(job: Job, attempt: int | None) -> str:
    """The name of an attempt by its number, the current one when none is given."""
    number = job.attempt if attempt is None else attempt
    if not 0 <= number <= job.attempt:
        raise NotFound("no_attempt", job=job.id, attempt=number, last=job.attempt)
    return f"{job.id}.{number}"


def times_of(job: Job, name: str, attempt: int | None, log: LogFile, start: int, end: int) -> Times:
    """How a part of a log grew, sampled about once a second: when it had which size."""
    number = job.attempt if attempt is None else attempt
    task = next(task for task in job.tasks if task.name == name)
    is_over = number == job.attempt and task.finished_at is not None
    return log.samples().between(start, end, (task.finished_at or 0.0, log.size) if is_over else None)
