"""What becomes of a running job whose failed task cannot be started again."""

from __future__ import annotations

import pytest

from footplate.domain.advance import advance
from footplate.domain.events import LaunchFailed, StopTasks, TaskExited
from footplate.domain.messages import text
from footplate.domain.states import JobState, ReasonCode
from footplate.testing.builders import AT, after, running


@pytest.mark.parametrize(("is_final", "next_state"), [(False, JobState.QUEUED), (True, JobState.FAILED)])
def test_a_task_that_cannot_be_started_again_does_not_leave_its_job_running_for_ever(
    is_final: bool, next_state: JobState
) -> None:
    retried = after(running(count=2, task_retry=1), TaskExited(AT, 0, "main", 0, 1))
    outcome = advance(retried, LaunchFailed(AT + 1, 0, text("the disk is full"), is_final))
    assert outcome.job.state is JobState.STOPPING
    assert outcome.job.next is not None
    assert outcome.job.next.state is next_state
    assert isinstance(outcome.effects[0], StopTasks)


def test_a_launch_that_is_repeated_after_a_restart_and_fails_leaves_a_running_job_alone() -> None:
    job = running(count=2)
    assert after(job, LaunchFailed(AT + 1, 0, text("a secret is gone"), is_final=True)) is job


def test_a_rule_that_wants_a_retry_elsewhere_does_not_start_the_task_again_in_its_place() -> None:
    rules = [{"action": "retry_elsewhere", "exit_codes": [9], "times": 1}]
    moved = after(running(task_retry=3, on_failure=rules), TaskExited(AT, 0, "main", 0, 9))
    assert (moved.state, moved.reason.code) == (JobState.STOPPING, ReasonCode.RETRYING)
    assert len(moved.avoids) == 1


def test_a_rule_counts_the_retries_of_single_tasks_too() -> None:
    rules = [{"action": "retry", "exit_codes": [7], "times": 2}]
    job = running(count=3, task_retry=5, on_failure=rules)
    twice = after(job, TaskExited(AT, 0, "main", 0, 7), TaskExited(AT, 0, "main", 2, 7))
    assert (twice.state, [task.run for task in twice.tasks]) == (JobState.RUNNING, [1, 0, 1])
    assert dict(twice.uses) == {"rule-0": 2}
    failed = after(twice, TaskExited(AT, 0, "main", 1, 7))
    assert failed.state is JobState.STOPPING
    assert failed.reason.message.endswith("rule 1 of on_failure has no retries left (of 2)")
    assert failed.next is not None
    assert failed.next.state is JobState.FAILED


def test_a_task_that_no_rule_speaks_of_is_started_again_on_no_account_but_its_own() -> None:
    rules = [{"action": "retry", "exit_codes": [7], "times": 1}]
    job = running(count=2, task_retry=1, retry=1, on_failure=rules)
    retried = after(job, TaskExited(AT, 0, "main", 0, 1))
    assert (retried.state, retried.tasks[0].run, dict(retried.uses)) == (JobState.RUNNING, 1, {})
