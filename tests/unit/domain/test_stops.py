"""How long tasks may take to end: what the job asks for, less for those deleted, none for whoever insists."""

from __future__ import annotations

from footplate.domain.advance import advance
from footplate.domain.events import DeleteAsked, StopAsked, StopTasks, TaskExited, TasksGone
from footplate.domain.job import DELETED_GRACE_S
from footplate.domain.messages import text
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.testing.builders import AT, after, running

USER = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
PATIENT = {"grace": "1h"}


def asked(grace_s: float | None = None) -> StopAsked:
    return StopAsked(AT + 5, USER, "ann", grace_s)


def test_a_stop_gives_the_grace_that_the_job_asks_for() -> None:
    assert advance(running(**PATIENT), asked()).effects == (StopTasks(0, 3600.0),)


def test_a_stop_at_once_gives_none() -> None:
    assert advance(running(**PATIENT), asked(0)).effects == (StopTasks(0, 0),)


def test_a_second_stop_at_once_cuts_the_grace_of_the_first() -> None:
    stopping = after(running(**PATIENT), asked())
    assert advance(stopping, asked()).effects == ()
    assert advance(stopping, asked(0)).effects == (StopTasks(0, 0),)
    assert advance(stopping, asked(0)).job.reason == stopping.reason


def test_a_grace_that_was_cut_stays_cut() -> None:
    for cut in (after(running(**PATIENT), asked(0)), after(running(**PATIENT), asked(), asked(0))):
        assert cut.grace_s == 0
        assert advance(cut, asked()).effects == ()
        assert advance(cut, asked()).job is cut
        assert after(cut, asked()).grace_s == 0
        assert after(cut, DeleteAsked(AT + 6, "ann")).grace_s == 0


def test_a_stop_at_once_of_a_job_that_is_to_be_tried_again_is_a_stop_and_cuts_its_grace() -> None:
    retrying = after(running(count=2, retry=1, **PATIENT), TaskExited(AT, 0, "main", 0, 1))
    stopping = after(retrying, asked(0))
    assert stopping.next is not None
    assert (stopping.next.state, stopping.grace_s) == (JobState.STOPPED, 0)


def test_the_next_attempt_has_its_whole_grace() -> None:
    retrying = after(running(count=2, retry=1, **PATIENT), TaskExited(AT, 0, "main", 0, 1))
    assert after(retrying, TasksGone(AT + 1, 0)).grace_s == 3600


def test_what_is_deleted_is_cleaned_up_soon() -> None:
    deleted = advance(running(**PATIENT), DeleteAsked(AT + 5, "ann"))
    assert deleted.job.state is JobState.STOPPING
    assert deleted.effects == (StopTasks(0, DELETED_GRACE_S),)


def test_deleting_a_job_that_uses_its_grace_cuts_it() -> None:
    stopping = after(running(**PATIENT), asked())
    assert advance(stopping, DeleteAsked(AT + 6, "ann", for_good=True)).effects == (
        StopTasks(0, DELETED_GRACE_S),
    )


def test_a_deleted_job_has_no_more_grace_than_it_asked_for() -> None:
    assert advance(running(grace="1s"), DeleteAsked(AT + 5, "ann")).effects == (StopTasks(0, 1.0),)
