"""What follows a failure: retries by account, tasks started again, kept environments, the trash."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from footplate.domain.advance import advance
from footplate.domain.events import (
    DeleteAsked,
    Hung,
    LaunchFailed,
    LaunchTasks,
    OthersGone,
    Placed,
    Released,
    RemoveJob,
    Reschedule,
    Restored,
    StopAsked,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
)
from footplate.domain.failures import MOST_TRANSIENT_RETRIES, Failure, FailureClass, applies, classify
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.spec import FailureRule
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.testing.builders import AT, after, job, placed, placement, running

USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
FAULT = Reason(ReasonCode.TASK_FAILED, text("it failed"))


def exited(code: int = 1, index: int = 0, attempt: int = 0, **more: Any) -> TaskExited:
    return TaskExited(AT + 5, attempt, "main", index, code, **more)


def lost(attempt: int = 0) -> TaskLost:
    return TaskLost(AT + 5, attempt, "main", 0, text("the machine was restarted"))


def again(stopping: Job) -> Job:
    """Let a job that is to be tried again run its next attempt."""
    assert stopping.state is JobState.STOPPING, stopping
    queued = after(stopping, TasksGone(AT + 6, stopping.attempt))
    assert queued.state is JobState.QUEUED, queued
    started = after(queued, Placed(AT + 7, queued.attempt, placement(queued.spec)))
    return after(
        started,
        *(TaskStarted(AT + 8, queued.attempt, task.role, task.index) for task in started.tasks),
    )


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure(FAULT, exit_code=1), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=137, cause="oom"), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=130), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=131), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=137), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=143), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=134), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=139), FailureClass.UNKNOWN),
        (Failure(FAULT, exit_code=126), FailureClass.PERMANENT),
        (Failure(FAULT, exit_code=127), FailureClass.PERMANENT),
        (Failure(FAULT, cause="rejected"), FailureClass.PERMANENT),
        (Failure(FAULT, cause="lost"), FailureClass.TRANSIENT),
        (Failure(FAULT, cause="tampered"), FailureClass.UNKNOWN),
        (Failure(FAULT, cause="launch"), FailureClass.TRANSIENT),
        (Failure(FAULT, cause="hang"), FailureClass.UNKNOWN),
    ],
)
def test_the_class_of_a_failure(failure: Failure, expected: FailureClass) -> None:
    assert classify(failure) is expected


@pytest.mark.parametrize(
    ("rule", "failure", "expected"),
    [
        ({"exit_codes": (3,)}, {"exit_code": 3}, True),
        ({"exit_codes": (3,)}, {"exit_code": 4}, False),
        ({"signals": ("SIGKILL",)}, {"exit_code": 137}, True),
        ({"signals": ("SIGKILL",)}, {"exit_code": 9}, False),
        ({"signals": ("SIGKILL",)}, {"exit_code": 255}, False),
        ({"causes": ("oom",)}, {"exit_code": 137, "cause": "oom"}, True),
        ({"causes": ("lost",)}, {"cause": "oom"}, False),
        ({"log": "CUDA error"}, {"exit_code": 1, "found": frozenset({"CUDA error"})}, True),
        ({"log": "CUDA error"}, {"exit_code": 1}, False),
        ({"exit_codes": (1,), "log": "x"}, {"exit_code": 1}, False),
    ],
)
def test_a_rule_applies_when_all_that_it_names_is_so(
    rule: dict[str, Any], failure: dict[str, Any], expected: bool
) -> None:
    assert applies(FailureRule("retry", **rule), Failure(FAULT, **failure)) is expected


def test_a_lost_task_is_tried_again_without_using_up_a_retry() -> None:
    retrying = after(running(), lost())
    assert retrying.reason.code is ReasonCode.RETRYING
    assert retrying.reason.details["class"] == "transient"
    assert (retrying.retries_used, dict(retrying.uses)) == (0, {"transient": 1})


def test_faults_of_the_platform_are_not_retried_for_ever() -> None:
    one = running()
    for number in range(MOST_TRANSIENT_RETRIES):
        one = again(after(one, lost(number)))
    over = after(one, lost(MOST_TRANSIENT_RETRIES))
    assert over.state is JobState.FAILED
    assert over.reason.code is ReasonCode.TASK_LOST
    assert "tried 9 times" in over.reason.message


def test_a_command_that_cannot_be_executed_is_not_tried_again() -> None:
    over = after(running(retry=5), exited(127))
    assert over.state is JobState.FAILED
    assert over.reason.details["class"] == "permanent"


def test_the_first_rule_that_applies_decides() -> None:
    rules = [
        {"action": "stop", "exit_codes": [3]},
        {"action": "retry", "exit_codes": [3, 4], "times": 1},
    ]
    assert after(running(retry=5, on_failure=rules), exited(3)).state is JobState.FAILED
    retried = again(after(running(on_failure=rules), exited(4)))
    assert dict(retried.uses) == {"rule-1": 1}
    assert after(retried, exited(4, attempt=1)).state is JobState.FAILED


def test_a_retry_elsewhere_avoids_the_node() -> None:
    rules = [{"action": "retry_elsewhere", "causes": ["oom"]}]
    retrying = after(running(on_failure=rules), exited(137, cause="oom"))
    assert retrying.avoids == (running().tasks[0].node,)
    assert "away from node" in retrying.reason.message


def test_running_out_of_memory_is_a_reason_of_its_own() -> None:
    over = after(running(), exited(137, cause="oom", detail=text("out of memory: its limit is 1 GiB")))
    assert over.reason.code is ReasonCode.OUT_OF_MEMORY
    assert "its limit is 1 GiB" in over.reason.message


def test_a_failed_task_is_started_again_by_itself() -> None:
    outcome = advance(running(count=2, task_retry=1), exited(1))
    assert outcome.effects == (LaunchTasks(0),)
    one = outcome.job
    assert (one.state, one.attempt) == (JobState.RUNNING, 0)
    assert (one.tasks[0].state, one.tasks[0].run) == (TaskState.STARTING, 1)
    assert one.tasks[1].state is TaskState.RUNNING
    assert after(one, exited(1)) is one, "news of the first run change nothing"
    back = after(one, TaskStarted(AT + 7, 0, "main", 0, run=1))
    assert (back.tasks[0].state, back.tasks[0].started_at) == (TaskState.RUNNING, AT + 7)
    assert after(back, exited(1, run=1)).state is JobState.STOPPING


def test_a_task_whose_failure_would_repeat_is_not_started_again() -> None:
    assert after(running(task_retry=3), exited(127)).state is JobState.FAILED
    rules = [{"action": "stop", "exit_codes": [9]}]
    assert after(running(task_retry=3, on_failure=rules), exited(9)).state is JobState.FAILED


def test_a_failed_environment_is_kept_and_holds_its_place() -> None:
    outcome = advance(running(count=2, keep_on_failure="10m"), exited(1))
    kept = outcome.job
    assert (kept.state, kept.reason.code) == (JobState.STOPPING, ReasonCode.KEPT)
    assert kept.kept_until == AT + 5 + 600
    assert kept.placement is not None
    assert outcome.effects == (StopTasks(0, kept.spec.grace_s, keep=(("main", 0),)),)
    assert after(kept, TasksGone(AT + 6, 0)) is kept, "the end of the others releases nothing"


@pytest.mark.parametrize(
    "event", [Released(AT + 9, "ann"), StopAsked(AT + 9, USER, "ann"), DeleteAsked(AT + 9, "ann")]
)
def test_a_kept_environment_ends_as_the_failure_that_it_was(event: Any) -> None:
    kept = after(running(keep_on_failure="10m"), exited(1))
    outcome = advance(kept, event)
    assert outcome.effects == (StopTasks(0, outcome.job.grace_s),)
    over = after(outcome.job, TasksGone(AT + 10, 0))
    assert (over.state, over.reason.code) == (JobState.FAILED, ReasonCode.TASK_FAILED)
    assert over.kept_until is None


def test_nothing_is_kept_while_a_retry_is_left() -> None:
    assert not after(running(keep_on_failure="10m", retry=1), exited(1)).is_kept


def test_a_launch_that_failed_leaves_nothing_to_keep() -> None:
    rejected = after(placed(keep_on_failure="10m"), LaunchFailed(AT, 0, text("no such image"), is_final=True))
    assert not rejected.is_kept


@pytest.mark.parametrize(
    ("action", "retry", "state"), [("restart", 1, "QUEUED"), ("restart", 0, "FAILED"), ("stop", 1, "FAILED")]
)
def test_a_hang_is_dealt_with_as_its_policy_says(action: str, retry: int, state: str) -> None:
    hung = running(retry=retry, hang={"after": "10m", "action": action})
    over = after(hung, Hung(AT + 700, 0, text("no progress for 10m")), TasksGone(AT + 701, 0))
    assert over.state == state
    assert "no progress for 10m" in over.reason.message


def test_a_deleted_job_goes_to_the_trash_and_can_come_back() -> None:
    ended = after(running(), exited(0))
    outcome = advance(ended, DeleteAsked(AT + 9, "ann"))
    assert (outcome.job.deleted_at, outcome.effects) == (AT + 9, ())
    assert after(outcome.job, Restored(AT + 10, "ann")).deleted_at is None


def test_deleting_a_running_job_stops_it_first() -> None:
    deleting = after(running(), DeleteAsked(AT, "ann"))
    assert (deleting.state, deleting.deleted_at) == (JobState.STOPPING, AT)
    over = advance(deleting, TasksGone(AT + 1, 0))
    assert over.job.state is JobState.STOPPED
    assert RemoveJob() not in over.effects


def test_what_is_deleted_for_good_is_removed_once_nothing_runs() -> None:
    for start in (job(), after(running(), exited(0))):
        assert RemoveJob() in advance(start, DeleteAsked(AT, "ann", for_good=True)).effects
    deleting = after(running(), DeleteAsked(AT, "ann", for_good=True))
    assert RemoveJob() in advance(deleting, TasksGone(AT + 1, 0)).effects
    removing = replace(after(running(), exited(0)), is_deleting=True, deleted_at=AT)
    assert after(removing, Restored(AT + 1, "ann")).deleted_at == AT, "too late to come back"


def test_a_release_that_comes_before_the_end_of_the_others_is_not_mistaken() -> None:
    kept = after(running(count=2, keep_on_failure="1h"), exited(3))
    released = after(kept, Released(AT + 6, "ann"), OthersGone(AT + 7, 0))
    assert released.state is JobState.STOPPING, "the kept task may still be there"
    assert released.placement is not None
    assert len(released.placement.held.tasks) == 2
    assert after(released, TasksGone(AT + 8, 0)).state is JobState.FAILED


def test_the_end_of_the_others_frees_their_places_once() -> None:
    kept = after(running(count=2, keep_on_failure="1h"), exited(3))
    freed = advance(kept, OthersGone(AT + 7, 0))
    assert freed.effects == (Reschedule(),)
    assert advance(freed.job, OthersGone(AT + 8, 0)).job is freed.job


def test_a_task_that_is_lost_while_the_others_are_stopped_is_not_kept() -> None:
    kept = after(running(count=2, keep_on_failure="1h"), exited(3, index=1), lost())
    assert kept.kept == {("main", 1)}
    assert kept.task("main", 0).state is TaskState.LOST
    freed = after(kept, OthersGone(AT + 7, 0))
    assert freed.placement is not None
    assert [task.index for task in freed.placement.held.tasks] == [1]


@pytest.mark.parametrize("code", [130, 131, 137, 143])
def test_without_retries_a_command_that_ends_by_a_signal_runs_once(code: int) -> None:
    assert after(running(retry=0), exited(code)).state is JobState.FAILED
    retrying = after(running(retry=1), exited(code))
    assert dict(retrying.uses) == {"retry": 1}
    rules = [{"action": "retry", "signals": ["SIGKILL", "SIGTERM", "SIGINT", "SIGQUIT"], "times": 2}]
    assert dict(after(running(on_failure=rules), exited(code)).uses) == {"rule-0": 1}


def test_a_lost_task_is_tried_again_at_no_cost_unless_it_has_spoilt_its_own_records() -> None:
    retrying = after(running(), lost())
    assert dict(retrying.uses) == {"transient": 1}
    assert "retry 1 of 8 after a platform fault" in retrying.reason.message
    failed = after(running(), replace(lost(), cause="tampered", detail=text("its record was changed")))
    assert failed.state is JobState.FAILED
    assert "its record was changed" in failed.reason.message


def test_what_we_end_ourselves_is_no_fault_of_the_platform() -> None:
    stopping = after(running(count=2), exited(1), exited(137, index=1))
    assert after(stopping, TasksGone(AT + 6, 0)).state is JobState.FAILED
