"""A task that crashes at once, time and again, pauses before it is started again."""

from __future__ import annotations

import pytest

from footplate.domain.events import TaskExited, TaskLost, TasksGone, TaskStarted
from footplate.domain.job import Job
from footplate.domain.messages import say, text
from footplate.domain.pauses import Pauses
from footplate.domain.states import JobState, TaskState
from footplate.testing.builders import AT, after, running

PAUSES = Pauses(first_s=4, most_s=10)


def crashed(job: Job, at: float, lived_s: float = 0.5) -> Job:
    """The job after another run of its first task."""
    run = job.tasks[0].run
    started = after(job, TaskStarted(at, 0, "main", 0, run))
    return after(started, TaskExited(at + lived_s, 0, "main", 0, 1, run=run, pauses=PAUSES))


def pauses_of(job: Job, lives_s: list[float]) -> list[float | None]:
    """How long the pause after each run is, if there is one."""
    found: list[float | None] = []
    at = AT + 100
    for lived_s in lives_s:
        job = crashed(job, at, lived_s)
        assert job.tasks[0].state is TaskState.STARTING
        until = job.tasks[0].not_before
        found.append(None if until is None else until - at - lived_s)
        at += 100
    return found


def test_pauses_begin_with_the_third_crash_in_a_row_and_double() -> None:
    job = after(running(count=2, task_retry=9), TaskExited(AT + 90, 0, "main", 0, 1, pauses=PAUSES))
    assert job.tasks[0].not_before is None, "it had run for long"
    assert pauses_of(job, [0.5] * 5) == [None, None, 4, 8, 10]


def test_a_run_that_lives_longer_makes_retries_prompt_again() -> None:
    assert pauses_of(running(task_retry=9), [0.5, 0.5, 30, 0.5, 0.5, 0.5]) == [
        None,
        None,
        None,
        None,
        None,
        4,
    ]


def test_a_task_that_is_lost_before_it_was_seen_to_run_has_lived_shortly() -> None:
    job = running(task_retry=9)
    for run in range(4):
        assert job.tasks[0].not_before is None
        job = after(job, TaskLost(AT + 100 + run, 0, "main", 0, text("vanished"), run, pauses=PAUSES))
    assert job.tasks[0].not_before == AT + 103 + 4


def paused() -> Job:
    """A job of two tasks, the first of which pauses for 4 seconds from AT + 103.5 on."""
    job = running(count=2, task_retry=9)
    for n in range(4):
        job = crashed(job, AT + 100 + n)
    return job


def test_a_pause_says_until_when_and_ends_with_the_start() -> None:
    job = paused()
    assert job.tasks[0].detail == say("started_again_later", not_before="2027-01-15T08:01:47.500Z")
    assert job.pausing(AT + 104) == {("main", 0)}
    assert job.pausing(AT + 107.5) == frozenset()
    again = after(job, TaskStarted(AT + 108, 0, "main", 0, job.tasks[0].run))
    assert (again.tasks[0].not_before, again.tasks[0].detail) == (None, None)


@pytest.mark.parametrize("back_s", [3600, 10])
def test_a_clock_that_is_set_back_ends_the_pause(back_s: float) -> None:
    assert paused().pausing(AT + 104 - back_s) == frozenset()


def test_a_job_is_stopped_while_a_task_of_it_pauses() -> None:
    stopping = after(paused(), TaskExited(AT + 104, 0, "main", 1, 127))
    assert stopping.state is JobState.STOPPING
    over = after(stopping, TasksGone(AT + 105, 0))
    assert (over.state, over.tasks[0].state) == (JobState.FAILED, TaskState.EXITED)
    assert over.pausing(AT + 105) == frozenset()
