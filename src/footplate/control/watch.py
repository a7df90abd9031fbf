"""Watching: what engines see becomes events of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from footplate.domain.events import Event, TaskExited, TaskLost, TaskStarted
from footplate.domain.job import Job
from footplate.domain.states import TaskState
from footplate.engines.base import Observation


def events_from(job: Job, seen: Sequence[Observation], now: float) -> list[Event]:
    """The news in these observations of one job's current attempt."""
    known = {(task.role, task.index): task for task in job.tasks}
    attempt_id = f"{job.id}.{job.attempt}"
    events: list[Event] = []
    for one in seen:
        task = known.get((one.role, one.index))
        if one.attempt_id != attempt_id or task is None or task.state.is_over:
            continue
        events += _events_of(one, job.attempt, now, has_started=task.started_at is not None)
    return events


def _events_of(one: Observation, attempt: int, now: float, has_started: bool) -> Iterable[Event]:
    if one.state in (TaskState.RUNNING, TaskState.EXITED) and not has_started:
        yield TaskStarted(one.started_at or now, attempt, one.role, one.index)
    if one.state is TaskState.EXITED:
        code = 255 if one.exit_code is None else one.exit_code
        yield TaskExited(one.finished_at or now, attempt, one.role, one.index, code, one.detail)
    elif one.state is TaskState.WAITING and has_started:
        yield TaskLost(now, attempt, one.role, one.index, "the engine no longer knows that it was started")
    elif one.state is TaskState.LOST:
        yield TaskLost(now, attempt, one.role, one.index, one.detail or "its process can no longer be found")
