"""Limits of time: who must stop when, and why."""

from __future__ import annotations

import pytest

from footplate.domain.events import StopAsked
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.overdue import overdue
from footplate.domain.states import Reason, ReasonCode
from footplate.testing.builders import AT, after, job, placed, running

DEADLINE = "2027-01-15T08:00:30Z"  # half a minute after the builders' AT
STOP = StopAsked(AT, Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann")), "ann")


@pytest.mark.parametrize("build", [job, placed, running], ids=["queued", "starting", "running"])
def test_a_deadline_ends_a_job_that_is_not_over_yet(build: object) -> None:
    held: Job = build(deadline=DEADLINE)  # type: ignore[operator]
    assert held.spec.deadline_at == AT + 30
    assert overdue(held, AT + 29.9) is None
    asked = overdue(held, AT + 30)
    assert asked is not None
    assert asked.reason.code is ReasonCode.DEADLINE


def test_the_time_limit_counts_from_when_all_tasks_run() -> None:
    held = running(time_limit="10s")
    assert held.running_at == AT + 2
    assert overdue(held, AT + 11.9) is None
    asked = overdue(held, AT + 12)
    assert asked is not None
    assert asked.reason.code is ReasonCode.TIME_LIMIT


def test_waiting_does_not_use_up_the_time_limit() -> None:
    assert overdue(job(time_limit="10s"), AT + 10_000) is None


def test_a_job_that_stops_or_has_ended_is_left_alone() -> None:
    stopping = after(running(time_limit="10s", deadline=DEADLINE), STOP)
    stopped = after(job(deadline=DEADLINE), STOP)
    assert overdue(stopping, AT + 10_000) is None
    assert overdue(stopped, AT + 10_000) is None
