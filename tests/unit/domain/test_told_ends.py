"""What the end of a job tells: the task that decided, the rule that was used up, why nothing follows."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.events import LaunchFailed, Placed, TaskExited, TasksGone, TaskStarted
from footplate.domain.exitcode import exit_code_of
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.states import JobState
from footplate.testing.builders import AT, after, placed, placement, running


def exited(code: int, index: int = 0, attempt: int = 0, **more: Any) -> TaskExited:
    return TaskExited(AT + 5, attempt, "main", index, code, **more)


def message_after(start: Job, *events: Any) -> str:
    return after(start, *events).reason.message


@pytest.mark.parametrize("code", [129 + 64, 160, 161, 200, 255])
def test_an_exit_code_that_is_no_signal_is_not_called_one(code: int) -> None:
    assert message_after(running(), exited(code)) == f"task main-0 exited with code {code}"


@pytest.mark.parametrize(("code", "number"), [(139, 11), (134, 6), (159, 31)])
def test_an_exit_code_that_is_a_signal_names_it(code: int, number: int) -> None:
    assert message_after(running(), exited(code)) == f"task main-0 exited with code {code} (signal {number})"


def test_the_task_that_tips_the_scale_gives_reason_and_exit_code() -> None:
    start = running(count=4, completion={"min_failed": 2})
    ended = after(start, exited(3, 2), exited(5, 1), TasksGone(AT + 6, 0))
    assert ended.reason.message == (
        "2 of 4 tasks of role main failed (min_failed 2); the last: task main-1 exited with code 5"
    )
    assert (ended.reason.details["task"], ended.reason.details["exit_code"]) == ("main-1", 5)
    codes = [task.exit_code for task in ended.tasks]
    assert exit_code_of(ended.state, ended.reason, codes) == 5


def test_the_exit_code_of_a_job_is_open_until_its_end_is_decided() -> None:
    retrying = after(running(retry=1), exited(3))
    assert exit_code_of(retrying.state, retrying.reason, [3]) is None
    kept = after(running(keep_on_failure="1m"), exited(3))
    assert exit_code_of(kept.state, kept.reason, [3]) == 3


def test_a_success_in_spite_of_failures_says_how_many_there_were() -> None:
    start = running(count=3, completion={"min_failed": None})
    ended = after(start, exited(1), exited(0, 1), exited(4, 2))
    assert ended.state is JobState.SUCCEEDED
    assert ended.reason.message == "all tasks are done; 2 of 3 failed, which does not fail the job"
    assert exit_code_of(ended.state, ended.reason, [1, 0, 4]) == 0


def test_a_rule_that_is_used_up_is_named_with_its_count() -> None:
    rules = [{"action": "stop", "exit_codes": [9]}, {"action": "retry", "exit_codes": [3], "times": 1}]
    once = after(running(on_failure=rules), exited(3))
    assert once.reason.message == "task main-0 exited with code 3; retry 1 of 1 by rule 2 of on_failure"
    queued = after(once, TasksGone(AT + 6, 0))
    again = after(queued, Placed(AT + 7, 1, placement(queued.spec)), TaskStarted(AT + 8, 1, "main", 0))
    told = message_after(again, exited(3, attempt=1))
    assert told == "task main-0 exited with code 3; rule 2 of on_failure has no retries left (of 1)"


def test_a_rule_that_stops_is_named() -> None:
    rules = [{"action": "stop", "exit_codes": [9]}]
    told = message_after(running(retry=2, on_failure=rules), exited(9))
    assert told == "task main-0 exited with code 9; not retried: rule 1 of on_failure says stop"


def test_a_failure_that_would_repeat_itself_says_why_no_retry_is_used() -> None:
    told = message_after(running(retry=2), exited(127))
    assert told == (
        "task main-0 exited with code 127; not retried, although 2 retries are left: "
        "the command was not found, and would fail again"
    )
    assert message_after(running(), exited(127)) == "task main-0 exited with code 127"
    refused = message_after(
        placed(retry=1), LaunchFailed(AT + 3, 0, text("there is no image x"), is_final=True)
    )
    assert "not retried" in refused
