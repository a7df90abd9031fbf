"""What an engine sees becomes events, in the order in which things happened."""

from __future__ import annotations

from footplate.control.watch import events_from
from footplate.domain.advance import advance
from footplate.domain.events import TaskExited, TaskStarted
from footplate.domain.job import Job
from footplate.domain.states import JobState, TaskState
from footplate.engines.base import Observation
from footplate.testing.builders import AT, placed


def seen(job: Job, index: int, started_at: float, finished_at: float | None = None) -> Observation:
    state, code = (TaskState.RUNNING, None) if finished_at is None else (TaskState.EXITED, 1)
    return Observation(f"{job.id}.0", "main", index, state, code, started_at, finished_at)


def test_starts_and_ends_are_told_in_their_order() -> None:
    job = placed(count=3)
    looks = [seen(job, 0, AT + 3, AT + 9), seen(job, 1, AT + 2), seen(job, 2, AT + 1, AT + 8)]
    told = [(type(one), one.index, one.at) for one in events_from(job, looks, AT + 10)]  # type: ignore[union-attr]
    assert told == [
        (TaskStarted, 2, AT + 1),
        (TaskStarted, 1, AT + 2),
        (TaskStarted, 0, AT + 3),
        (TaskExited, 2, AT + 8),
        (TaskExited, 0, AT + 9),
    ]


def test_no_task_ends_before_it_starts_however_the_clock_was_set() -> None:
    job = placed(count=2)
    looks = [seen(job, 0, AT + 5, AT - 60), seen(job, 1, AT + 1)]
    told = [(type(one), one.index) for one in events_from(job, looks, AT + 10)]  # type: ignore[union-attr]
    assert told == [(TaskStarted, 1), (TaskStarted, 0), (TaskExited, 0)]


def test_a_job_runs_since_its_last_task_does_in_whatever_order_they_are_seen() -> None:
    job = placed(count=2)
    for index, at in ((1, AT + 7), (0, AT + 3)):
        job = advance(job, TaskStarted(at, 0, "main", index)).job
    assert (job.state, job.running_at) == (JobState.RUNNING, AT + 7)
