"""Pauses before a job is tried again: which retries have one, how long they are, and what ends them."""

from __future__ import annotations

import pytest

from footplate.domain.events import (
    DeleteAsked,
    Edited,
    Event,
    LaunchFailed,
    Placed,
    Preempted,
    StopAsked,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.failures import MOST_TRANSIENT_RETRIES
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.pauses import SHORT_LIVED_S, Pauses
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.testing.builders import AT, after, job, placement

PAUSES = Pauses(first_s=1, most_s=10)
USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))


def up(of: Job, at: float) -> Job:
    """Place a job and let all its tasks run."""
    starts = [TaskStarted(at, of.attempt, task.role, task.index) for task in of.tasks]
    return after(of, Placed(at, of.attempt, placement(of.spec)), *starts)


def away(of: Job, at: float = AT, pauses: Pauses = PAUSES) -> Job:
    """Place a job whose launch fails, and put it back."""
    failed = LaunchFailed(at, of.attempt, text("the registry is away"))
    return after(of, Placed(at, of.attempt, placement(of.spec)), failed, TasksGone(at, of.attempt, pauses))


def crashed(of: Job, lived_s: float = 0.1, code: int = 1, **more: object) -> Job:
    """Let an attempt run for so long, fail, and go back to the queue."""
    at = AT + lived_s
    end = TaskExited(at, of.attempt, "main", 0, code, **more)  # type: ignore[arg-type]
    return after(up(of, AT), end, TasksGone(at, of.attempt, PAUSES))


def pause_s(of: Job) -> float:
    """How long a job pauses that waits to be tried again."""
    assert of.state is JobState.QUEUED
    return 0.0 if of.not_before is None else round(of.not_before - of.queued_at, 3)


def test_each_pause_is_twice_as_long_as_the_one_before_up_to_the_longest() -> None:
    assert [Pauses(1, 300).length_s(number) for number in range(5)] == [0, 1, 2, 4, 8]
    assert [Pauses(2, 5).length_s(number) for number in (1, 2, 3, 10**6)] == [2, 4, 5, 5]


def test_without_a_first_pause_there_is_none() -> None:
    assert [Pauses(0, 300).length_s(number) for number in (1, 2, 10**6)] == [0, 0, 0]


def test_a_first_pause_above_the_longest_is_cut() -> None:
    assert Pauses(60, 10).length_s(1) == 10


def test_faults_of_the_platform_are_retried_at_once_and_then_after_ever_longer_pauses() -> None:
    one, seen = job(), []
    for _ in range(MOST_TRANSIENT_RETRIES):
        one = away(one)
        seen.append(pause_s(one))
    assert seen == [0, 1, 2, 4, 8, 10, 10, 10]
    assert away(one).state is JobState.FAILED


def test_with_the_usual_pauses_a_registry_that_is_away_for_two_minutes_is_survived() -> None:
    one, waited_s = job(), 0.0
    for _ in range(MOST_TRANSIENT_RETRIES):
        one = away(one, pauses=Pauses())
        waited_s += pause_s(one)
    assert waited_s >= 120


def test_a_lost_task_counts_as_a_fault_of_the_platform() -> None:
    one = job()
    for expected in (0, 1, 2):
        gone = TaskLost(AT + 60, one.attempt, "main", 0, text("the machine was restarted"))
        one = after(up(one, AT), gone, TasksGone(AT + 61, one.attempt, PAUSES))
        assert pause_s(one) == expected


def test_the_reason_says_what_failed_and_when_the_next_try_comes() -> None:
    prompt = away(job(), 1_800_000_000.0)
    assert prompt.reason.code is ReasonCode.RETRYING
    paused = away(prompt, 1_800_000_000.0)
    assert paused.reason.code is ReasonCode.RETRY_LATER
    told_at = "2027-01-15 08:00:01 UTC"
    message = f"the registry is away; retry 2 of 8 after a platform fault, not before {told_at}"
    assert paused.reason.message == message
    told = {
        name: paused.reason.details[name] for name in ("retry", "retries", "pause_s", "not_before", "cause")
    }
    assert told == {
        "retry": 2,
        "retries": 8,
        "pause_s": 1,
        "not_before": "2027-01-15T08:00:01.000Z",
        "cause": "launch_failed",
    }
    assert "the registry is away" in paused.reason.message


def test_the_pause_begins_when_nothing_of_the_attempt_runs_any_more() -> None:
    stopping = after(away(job()), Placed(AT, 1, placement(job().spec)), LaunchFailed(AT, 1, text("away")))
    assert (stopping.state, stopping.not_before) == (JobState.STOPPING, None)
    queued = after(stopping, TasksGone(AT + 30, 1, PAUSES))
    assert (queued.queued_at, queued.not_before) == (AT + 30, AT + 31)


@pytest.mark.parametrize("code", [1, 137])
def test_a_gang_that_has_worked_is_started_again_at_once_however_often(code: int) -> None:
    one = job(count=2, retry=8)
    for _ in range(8):
        one = crashed(one, lived_s=SHORT_LIVED_S, code=code)
        assert pause_s(one) == 0


def test_a_job_that_crashes_at_once_pauses_from_the_third_time_on() -> None:
    one, seen = job(retry=1000), []
    for _ in range(8):
        one = crashed(one)
        seen.append(pause_s(one))
    assert seen == [0, 0, 1, 2, 4, 8, 10, 10]
    assert one.reason.code is ReasonCode.RETRY_LATER
    assert one.reason.details["account"] == "retry"


def test_one_attempt_that_lives_makes_retries_prompt_again() -> None:
    one = job(retry=1000)
    for _ in range(4):
        one = crashed(one)
    assert pause_s(one) == 2
    worked = crashed(one, lived_s=60)
    assert [pause_s(worked), pause_s(crashed(worked))] == [0, 0]


def test_retries_by_a_rule_pause_as_the_jobs_own_do() -> None:
    one, seen = job(on_failure=[{"action": "retry", "exit_codes": [3], "times": 10}]), []
    for _ in range(4):
        one = crashed(one, code=3)
        seen.append(pause_s(one))
    assert seen == [0, 0, 1, 2]


def test_an_attempt_that_never_ran_is_short_lived_however_long_it_took() -> None:
    one, seen = job(count=2, on_failure=[{"action": "retry", "causes": ["lost"], "times": 10}]), []
    for _ in range(4):
        gone = (
            TaskLost(AT + 600, one.attempt, "main", 0, text("vanished")),
            TasksGone(AT, one.attempt, PAUSES),
        )
        one = after(one, Placed(AT, one.attempt, placement(one.spec)), *gone)
        seen.append(pause_s(one))
    assert (seen, dict(one.uses)) == ([0, 0, 1, 2], {"rule-0": 4})


def test_a_preempted_job_does_not_pause() -> None:
    one = job()
    for _ in range(4):
        told = Reason(ReasonCode.PREEMPTED, text("made room"))
        gone = Preempted(AT, one.attempt, told), TasksGone(AT, one.attempt, PAUSES)
        one = after(up(one, AT), *gone)
        assert (pause_s(one), one.reason.code) == (0, ReasonCode.PREEMPTED)


def test_a_job_that_is_placed_pauses_no_more() -> None:
    paused = away(away(job()))
    assert paused.not_before is not None
    assert after(paused, Placed(AT + 9, paused.attempt, placement(paused.spec))).not_before is None


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (StopAsked(AT, USER, "ann"), JobState.STOPPED),
        (StopAsked(AT, Reason(ReasonCode.DEADLINE, text("too late"))), JobState.STOPPED),
        (DeleteAsked(AT, "ann"), JobState.STOPPED),
    ],
)
def test_a_job_that_pauses_ends_at_once(event: Event, state: JobState) -> None:
    over = after(away(away(job())), event)
    assert (over.state, over.not_before) == (state, None)


def test_a_stop_while_the_last_tasks_end_leaves_no_pause_behind() -> None:
    stopping = after(away(job()), Placed(AT, 1, placement(job().spec)), LaunchFailed(AT, 1, text("away")))
    over = after(stopping, StopAsked(AT, USER, "ann"), TasksGone(AT + 1, 1, PAUSES))
    assert (over.state, over.not_before) == (JobState.STOPPED, None)


def test_a_change_of_priority_or_another_reason_leaves_the_pause_as_it_is() -> None:
    paused = away(away(job()))
    told = WaitExplained(AT, paused.attempt, Reason(ReasonCode.NO_PORTS, text("no")))
    edited = after(paused, Edited(AT, "ann", priority=5), told)
    assert (edited.not_before, edited.queued_at) == (paused.not_before, paused.queued_at)
