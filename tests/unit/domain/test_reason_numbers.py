"""The numbers behind a reason: enough of them to tell it in another language."""

from __future__ import annotations

from footplate.domain.advance import advance
from footplate.domain.errors import BY_CODE
from footplate.domain.events import DeleteAsked, TaskExited, TasksGone
from footplate.domain.messages import text
from footplate.testing.builders import AT, after, placed, running
from footplate.wire.body import ErrorBody


def exited(code: int, attempt: int = 0, detail: str = "") -> TaskExited:
    return TaskExited(AT + 5, attempt, "main", 0, code, detail)


def test_a_retry_says_whose_it_is_and_which_of_how_many() -> None:
    details = after(running(retry=2), exited(3)).reason.details
    assert details["cause"] == "task_failed"
    assert (details["account"], details["retry"], details["retries"]) == ("retry", 1, 2)
    assert (details["task"], details["exit_code"]) == ("main-0", 3)


def test_a_last_failure_says_how_often_it_was_tried_and_what_the_engine_added() -> None:
    job = after(running(retry=0), exited(3, detail=text("the disk was full")))
    assert job.reason.message == "task main-0 exited with code 3: the disk was full"
    assert "tries" not in job.reason.details
    stopping = after(running(retry=1), exited(3))
    details = after(running(after(stopping, TasksGone(AT + 6, 0))), exited(4, attempt=1)).reason.details
    assert (details["tries"], details["exit_code"]) == (2, 4)


def test_a_kept_environment_says_why_it_is_kept() -> None:
    details = after(running(keep_on_failure="1m"), exited(3)).reason.details
    assert details["cause"] == "task_failed"
    assert details["kept_until"]


def test_starting_and_running_count_their_tasks() -> None:
    assert placed(count=3).reason.details == {"n_tasks": 3}
    assert running(count=3).reason.details == {"n_tasks": 3}


def test_a_deletion_says_by_whom() -> None:
    assert advance(running(), DeleteAsked(AT + 5, "ann")).job.reason.details == {"by": "ann"}


def test_the_api_names_every_code_that_an_error_may_have() -> None:
    listed = ErrorBody.model_json_schema()["properties"]["code"]["enum"]
    assert set(listed) == {*BY_CODE, "method_not_allowed"}
