"""The state machine: every state meets every event, and the stories of whole lives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.advance import advance
from footplate.domain.cluster import Placement, Whereabouts
from footplate.domain.errors import InvalidTransition
from footplate.domain.events import (
    DeleteAsked,
    Edited,
    Event,
    HandedOver,
    HangSeen,
    Hung,
    LaunchFailed,
    LaunchTasks,
    OthersGone,
    Placed,
    Preempted,
    ProgressSeen,
    Refused,
    Released,
    Reschedule,
    Restored,
    StopAsked,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.moves import LATE, MOVES, OF_AN_ENGINE, OF_OUR_QUEUE
from footplate.domain.states import FINAL_STATES, JobState, Reason, ReasonCode, TaskState
from footplate.testing.builders import AT, after, job, placed, placement, running

USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
LIMIT = Reason(ReasonCode.TIME_LIMIT, text("ran for its time limit of 1m"))


def exited(
    code: int = 0, index: int = 0, role: str = "main", attempt: int = 0, at: float = AT + 5
) -> TaskExited:
    return TaskExited(at, attempt, role, index, code)


def gone(attempt: int = 0) -> TasksGone:
    return TasksGone(AT + 9, attempt)


def in_state(state: JobState) -> Job:
    """A two-task job that came to a state by a way that users know."""
    match state:
        case JobState.QUEUED:
            return job(count=2)
        case JobState.STARTING:
            return placed(count=2)
        case JobState.RUNNING:
            return running(count=2)
        case JobState.STOPPING:
            return after(running(count=2), StopAsked(AT, USER, "ann"))
        case JobState.SUCCEEDED:
            return after(running(count=2), exited(), exited(index=1))
        case JobState.FAILED:
            return after(job(count=2), Refused(AT, 0, Reason(ReasonCode.NEVER_FITS, text("no"))))
        case JobState.STOPPED:
            return after(job(count=2), StopAsked(AT, USER, "ann"))


OPEN = Placement(
    tuple(replace(task, node="", address="") for task in placement(job(count=2).spec).tasks), engine="slurm"
)
THERE = Reason(ReasonCode.HANDED_OVER, text("handed over"))


def handed_over() -> Job:
    """A two-task job that waits in an engine that places by itself."""
    return after(job(count=2), HandedOver(AT, 0, OPEN, THERE))


EVENTS: list[Event] = [
    Placed(AT, 0, placement(job(count=2).spec)),
    HandedOver(AT, 0, OPEN, THERE),
    TaskStarted(AT, 0, "main", 0),
    exited(0),
    exited(1),
    TaskLost(AT, 0, "main", 0, text("gone")),
    LaunchFailed(AT, 0, text("no")),
    LaunchFailed(AT, 0, text("never"), is_final=True),
    StopAsked(AT, USER, "ann"),
    StopAsked(AT, LIMIT),
    Preempted(AT, 0, Reason(ReasonCode.PREEMPTED, text("a more urgent job needs the place"))),
    Hung(AT, 0, text("no progress for 30m")),
    HangSeen(AT, 0, Reason(ReasonCode.HANG, text("no progress of main-0"))),
    ProgressSeen(AT, 0),
    Released(AT, "ann"),
    gone(),
    OthersGone(AT, 0),
    Refused(AT, 0, Reason(ReasonCode.NEVER_FITS, text("no"))),
    WaitExplained(AT, 0, Reason(ReasonCode.BEHIND_OTHERS, text("2 jobs are ahead"))),
    Edited(AT, "ann", name="other"),
    DeleteAsked(AT, "ann"),
    DeleteAsked(AT, "ann", for_good=True),
    Restored(AT, "ann"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("state", JobState)
def test_every_state_takes_every_event_as_the_table_says(state: JobState, event: Event) -> None:
    before = in_state(state)
    assert before.state is state
    allowed = MOVES.get((state, type(event)))
    if state is JobState.QUEUED and type(event) in OF_AN_ENGINE:
        # It waits with us: an engine knows nothing of it.
        allowed = None
    if allowed is None and (state, type(event)) not in LATE:
        with pytest.raises(InvalidTransition, match=f"is {state} .* cannot take {type(event).__name__}"):
            advance(before, event)
        return
    result = advance(before, event).job
    if allowed is None:
        assert result is before
    else:
        assert result.state in allowed
    holds = result.state.holds_resources or result.is_handed_over
    assert (result.placement is not None) == holds, "a job holds a place exactly while it may run"
    assert (result.finished_at is not None) == result.state.is_final
    assert (result.next is not None) == (result.state is JobState.STOPPING)


def test_the_table_refuses_what_neither_moves_a_job_nor_comes_late() -> None:
    refused = set()
    for state in JobState:
        for event in EVENTS:
            try:
                advance(in_state(state), event)
            except InvalidTransition:
                refused.add((state, type(event)))
    pairs = {(state, type(event)) for state in JobState for event in EVENTS}
    waits_with_us = {(JobState.QUEUED, kind) for kind in OF_AN_ENGINE}
    assert refused == pairs - (MOVES.keys() - waits_with_us) - LATE
    assert len(refused) >= 50
    assert not LATE & MOVES.keys()


@pytest.mark.parametrize("kind", [Placed, HandedOver, Refused, WaitExplained])
def test_the_scheduler_decides_about_waiting_jobs_only(kind: type) -> None:
    (event,) = (event for event in EVENTS if type(event) is kind)
    for state in set(JobState) - {JobState.QUEUED}:
        with pytest.raises(InvalidTransition):
            advance(in_state(state), event)


def test_what_the_scheduler_decided_about_an_earlier_attempt_changes_nothing() -> None:
    requeued = after(running(), Preempted(AT, 0, Reason(ReasonCode.PREEMPTED, text("made room"))), gone())
    told = Reason(ReasonCode.BEHIND_OTHERS, text("2 jobs are ahead"))
    for event in (Placed(AT, 0, placement(requeued.spec)), Refused(AT, 0, told), WaitExplained(AT, 0, told)):
        assert advance(requeued, event).job is requeued
    with pytest.raises(InvalidTransition):
        advance(requeued, Placed(AT, 2, placement(requeued.spec)))


def test_every_kind_of_event_is_in_the_table() -> None:
    assert {type(event) for event in EVENTS} == {kind for _, kind in MOVES}


def test_nothing_leaves_a_final_state() -> None:
    for (state, _), targets in MOVES.items():
        if state in FINAL_STATES:
            assert targets == {state}


def test_news_of_an_older_attempt_changes_nothing() -> None:
    second = replace(running(), attempt=1)
    for event in (exited(1), gone(), TaskStarted(AT, 0, "main", 0), LaunchFailed(AT, 0, text("no"))):
        assert advance(second, event).job is second


def test_news_of_an_attempt_that_never_was_is_an_error_with_the_whole_story() -> None:
    with pytest.raises(
        InvalidTransition, match=r"job 0000000000aa is RUNNING in attempt 0 .* main-0 RUNNING"
    ):
        advance(running(), exited(0, attempt=1))


def test_a_task_that_the_job_does_not_have_is_an_error() -> None:
    with pytest.raises(InvalidTransition, match="has no task main-7"):
        advance(running(), exited(0, index=7))


def test_a_job_runs_once_all_its_tasks_have_started() -> None:
    one = after(placed(count=2), TaskStarted(AT + 2, 0, "main", 0))
    assert one.state is JobState.STARTING
    both = after(one, TaskStarted(AT + 3, 0, "main", 1))
    assert both.state is JobState.RUNNING
    assert both.running_at == AT + 3


def test_a_task_that_ends_before_the_others_start_counts_as_started() -> None:
    starting = after(placed(count=2), exited(0))
    assert starting.state is JobState.STARTING
    assert after(starting, TaskStarted(AT + 6, 0, "main", 1)).state is JobState.RUNNING


def test_placing_asks_to_launch_and_ending_asks_to_plan_again() -> None:
    waiting = job()
    assert advance(waiting, Placed(AT, waiting.attempt, placement(waiting.spec))).effects == (LaunchTasks(0),)
    assert advance(running(), exited(0)).effects == (Reschedule(),)


def test_exit_code_zero_succeeds_and_any_other_fails_with_the_code() -> None:
    assert after(running(), exited(0)).state is JobState.SUCCEEDED
    failed = after(running(), exited(3))
    assert failed.state is JobState.FAILED
    assert failed.reason.code is ReasonCode.TASK_FAILED
    assert failed.reason.details["exit_code"] == 3
    assert "exited with code 3" in failed.reason.message


def test_a_signal_is_named_in_the_reason() -> None:
    assert "(signal 9)" in after(running(), exited(137)).reason.message


def test_one_failure_stops_the_rest_by_default() -> None:
    outcome = advance(running(count=4, grace="5s"), exited(1))
    assert outcome.job.state is JobState.STOPPING
    assert outcome.effects == (StopTasks(0, 5),)
    ended = after(outcome.job, gone())
    assert ended.state is JobState.FAILED
    assert [task.state for task in ended.tasks] == [TaskState.EXITED] * 4


def test_two_failures_of_four_fail_the_job_when_two_are_asked_for() -> None:
    start = running(count=4, completion={"min_failed": 2})
    assert after(start, exited(1)).state is JobState.RUNNING
    assert after(start, exited(1), exited(1, 2)).state is JobState.STOPPING


def test_failures_never_end_a_job_whose_threshold_is_null() -> None:
    start = running(count=2, completion={"min_failed": None})
    ended = after(start, exited(1), exited(1, 1))
    assert ended.state is JobState.SUCCEEDED


def test_enough_successes_end_the_job_and_stop_the_parameter_server() -> None:
    start = running(
        roles=[
            {"name": "ps", "command": "serve"},
            {"name": "worker", "count": 2, "command": "work", "completion": {"min_succeeded": 2}},
        ]
    )
    first = after(start, exited(0, role="worker"))
    assert first.state is JobState.RUNNING
    second = advance(first, exited(0, index=1, role="worker"))
    assert second.job.state is JobState.STOPPING
    assert StopTasks(0, 10) in second.effects
    assert after(second.job, exited(143, role="ps"), gone()).state is JobState.SUCCEEDED


def test_a_retry_goes_through_stopping_and_the_queue_as_a_new_attempt() -> None:
    failed = advance(running(retry=1), exited(1))
    assert failed.job.state is JobState.STOPPING
    assert failed.job.placement is not None, "nothing is given back while something may still run"
    again = advance(failed.job, gone())
    assert again.job.state is JobState.QUEUED
    assert (again.job.attempt, again.job.retries_used) == (1, 1)
    assert again.job.tasks[0].state is TaskState.WAITING
    assert again.job.placement is None
    assert again.effects == (Reschedule(),)


def test_retries_are_counted_and_then_the_job_fails() -> None:
    now = job(retry=2)
    for attempt in range(3):
        now = after(running(now), exited(1, attempt=attempt))
        if attempt < 2:
            now = after(now, gone(attempt))
    assert now.state is JobState.FAILED
    assert now.attempt == 2


def test_a_stop_during_a_retry_cancels_the_retry() -> None:
    retrying = after(running(retry=5), exited(1))
    stopped = after(retrying, StopAsked(AT, USER, "ann"), gone())
    assert stopped.state is JobState.STOPPED


def test_a_stop_after_the_end_was_decided_does_not_change_it() -> None:
    failing = after(running(count=2), exited(1))
    assert after(failing, StopAsked(AT, USER, "ann"), gone()).state is JobState.FAILED


def test_a_waiting_job_stops_at_once() -> None:
    outcome = advance(job(), StopAsked(AT, USER, "ann"))
    assert outcome.job.state is JobState.STOPPED
    assert outcome.effects == (Reschedule(),)


def test_the_time_limit_stops_with_that_reason() -> None:
    ended = after(running(), StopAsked(AT, LIMIT), gone())
    assert ended.state is JobState.STOPPED
    assert ended.reason.code is ReasonCode.TIME_LIMIT


def test_a_deadline_ends_a_job_in_the_same_state_whether_it_waits_or_runs() -> None:
    passed = StopAsked(AT, Reason(ReasonCode.DEADLINE, text("too late")))
    for ended in (after(job(), passed), after(running(), passed, gone())):
        assert (ended.state, ended.reason.code) == (JobState.STOPPED, ReasonCode.DEADLINE)


def test_preemption_uses_up_no_retry() -> None:
    moved = after(running(), Preempted(AT, 0, Reason(ReasonCode.PREEMPTED, text("make room"))), gone())
    assert (moved.state, moved.attempt, moved.retries_used) == (JobState.QUEUED, 1, 0)


@pytest.mark.parametrize(
    ("is_final", "retry", "expected"), [(False, 1, "QUEUED"), (True, 1, "FAILED"), (False, 0, "QUEUED")]
)
def test_a_failed_launch_is_tried_again_unless_that_cannot_help(
    is_final: bool, retry: int, expected: str
) -> None:
    outcome = advance(placed(retry=retry), LaunchFailed(AT, 0, text("no such image"), is_final))
    assert outcome.job.state is JobState.STOPPING, "some tasks may have started"
    assert after(outcome.job, gone()).state == expected


def test_the_first_word_about_an_end_stands() -> None:
    stopping = after(running(count=2), exited(0), StopAsked(AT, USER, "ann"))
    later = after(stopping, exited(1))
    assert later.tasks[0].exit_code == 0


def test_an_edit_of_the_priority_of_a_waiting_job_plans_again() -> None:
    outcome = advance(job(), Edited(AT, "ann", priority=7))
    assert outcome.job.spec.priority == 7
    assert outcome.effects == (Reschedule(),)
    assert advance(running(), Edited(AT, "ann", description="x")).effects == ()


def test_a_reason_for_waiting_is_kept_with_the_job() -> None:
    reason = Reason(ReasonCode.BEHIND_OTHERS, text("2 jobs are ahead"), {"ahead": 2})
    assert advance(job(), WaitExplained(AT, 0, reason)).job.reason == reason


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_a_job_that_waits_in_an_engine_takes_every_event_as_the_table_says(event: Event) -> None:
    before = handed_over()
    allowed = MOVES.get((JobState.QUEUED, type(event)))
    if allowed is None or type(event) in OF_OUR_QUEUE:
        with pytest.raises(InvalidTransition):
            advance(before, event)
        return
    assert advance(before, event).job.state in allowed


def test_a_handed_over_job_waits_until_its_engine_starts_it() -> None:
    handed = advance(job(count=2), HandedOver(AT, 0, OPEN, THERE))
    assert (handed.job.state, handed.effects) == (JobState.QUEUED, (LaunchTasks(0),))
    assert handed.job.started_at is None
    where = Whereabouts("n1", "10.0.0.1", (2,), (("main", (7000,)),))
    begun = after(handed.job, TaskStarted(AT + 3, 0, "main", 0, where=where))
    assert (begun.state, begun.started_at) == (JobState.STARTING, AT + 3)
    assert (begun.tasks[0].node, begun.tasks[0].gpus) == ("n1", (2,))
    assert begun.tasks[1].state is TaskState.STARTING
    assert after(begun, TaskStarted(AT + 4, 0, "main", 1)).state is JobState.RUNNING


def test_a_job_that_waits_in_an_engine_is_stopped_there() -> None:
    stopping = advance(handed_over(), StopAsked(AT, USER, "ann"))
    assert stopping.job.state is JobState.STOPPING
    assert [type(effect) for effect in stopping.effects] == [StopTasks]
    assert after(stopping.job, gone()).state is JobState.STOPPED


def test_a_job_that_its_engine_lost_before_its_start_is_tried_again() -> None:
    lost = after(handed_over(), TaskLost(AT, 0, "main", 0, text("cancelled there")))
    assert lost.state is JobState.STOPPING
    again = after(lost, gone())
    assert (again.state, again.attempt, again.placement) == (JobState.QUEUED, 1, None)
