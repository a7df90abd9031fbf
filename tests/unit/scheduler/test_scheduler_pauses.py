"""Jobs that pause before they are tried again: not placed, in nobody's way, in their place again after."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from footplate.domain.cluster import Queue
from footplate.domain.messages import text
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.decisions import Plan
from footplate.scheduler.estimate import only_ahead_of, start_of
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import Pause, PendingJob, RunningJob, Snapshot
from footplate.testing.scheduling import amount, node, pending, queue, running, snapshot

NOW = 1000.0
WHY = Reason(
    ReasonCode.RETRY_LATER, text("the registry is away; retry 2 of 8, not before then"), {"retry": 2}
)


def paused(job_id: str = "p", until: float = NOW + 4, since: float = NOW - 1, **more: float) -> PendingJob:
    """A job that went back to the queue when its pause began."""
    waiting = pending(job_id, queued_at=since, **more)  # type: ignore[arg-type]
    return replace(waiting, pause=Pause(since, until, WHY))


def planned(state: Snapshot, at: float = NOW, policy: Policy | None = None) -> Plan:
    return plan(state, policy or Policy(), at)


def started(state: Snapshot, at: float = NOW) -> list[str]:
    return [start.job_id for start in planned(state, at).starts]


def test_a_job_is_not_placed_before_its_pause_is_over() -> None:
    state = snapshot([node()], [paused(until=NOW + 4)])
    assert [started(state, NOW), started(state, NOW + 3.999), started(state, NOW + 4)] == [[], [], ["p"]]


def test_a_plan_says_when_the_first_pause_ends() -> None:
    state = snapshot([node()], [paused("p", NOW + 4), paused("q", NOW + 2), paused("over", NOW - 0.5)])
    assert planned(state).wakes_at == NOW + 2
    assert planned(snapshot([node()], [pending("a")])).wakes_at is None


def test_a_clock_that_was_set_back_makes_no_pause_longer_than_it_is() -> None:
    state = snapshot([node()], [paused(since=NOW, until=NOW + 4)])
    assert started(state, NOW - 3600) == ["p"]


def test_a_job_that_pauses_holds_nobody_up() -> None:
    large = paused("large", cpus=4, priority=9)
    state = snapshot([node(cpus=4)], [large, pending("a", cpus=3), pending("b", cpus=1)])
    assert started(state) == ["a", "b"]


def test_no_room_is_kept_for_a_job_that_pauses() -> None:
    held = [running("r", cpus=2, ends_by=NOW + 10)]
    waiting = [paused("large", cpus=4, priority=9), pending("small", cpus=2)]
    assert started(snapshot([node(cpus=4)], waiting, held)) == ["small"]
    assert started(snapshot([node(cpus=4)], waiting, held), NOW + 4) == []


def test_a_job_that_pauses_does_not_use_up_the_share_of_its_queue() -> None:
    queues = [queue("sure", share=amount(cpus=2)), queue("other")]
    waiting = [
        paused("p", cpus=2, queue="sure"),  # type: ignore[arg-type]
        pending("mine", cpus=2, queue="sure", queued_at=NOW),
        pending("theirs", cpus=2, queue="other", queued_at=1),
    ]
    assert started(snapshot([node(cpus=2)], waiting, queues=queues)) == ["mine"]


def test_a_job_that_pauses_keeps_its_place_in_line() -> None:
    waiting = [pending("old", queued_at=1), paused("p", since=2), pending("new", queued_at=3)]
    full = snapshot([node(cpus=1)], waiting, [running()])
    assert planned(full).order == ("old", "p", "new")
    free = snapshot([node(cpus=1)], waiting[1:])
    assert started(free, NOW + 4) == ["p"]


def test_a_job_that_pauses_is_ahead_of_nobody_and_says_why_it_waits() -> None:
    waiting = [pending("old", queued_at=1), paused("p", since=2), pending("new", queued_at=3)]
    outcome = planned(snapshot([node(cpus=1)], waiting, [running()]))
    reason = outcome.explain("p")
    assert (reason.code, reason.message) == (WHY.code, WHY.message)
    assert reason.details == {"retry": 2, "ahead": 1}
    assert outcome.explain("new").details["ahead"] == 1


def test_a_job_whose_pause_is_over_waits_like_any_other() -> None:
    outcome = planned(snapshot([node(cpus=1)], [paused()], [running()]), NOW + 4)
    assert outcome.explain("p").code is ReasonCode.INSUFFICIENT_RESOURCES
    assert outcome.wakes_at is None


def test_what_can_never_fit_is_refused_when_its_pause_is_over() -> None:
    state = snapshot([node(cpus=1)], [paused(cpus=2)])
    policy = Policy(refuse_impossible=True)
    assert planned(state, NOW, policy).refusals == ()
    assert [refusal.job_id for refusal in planned(state, NOW + 4, policy).refusals] == ["p"]


def test_a_closed_queue_does_not_hide_that_a_job_pauses() -> None:
    closed: Queue = queue("default", is_open=False)
    outcome = planned(snapshot([node()], [paused()], queues=[closed]))
    assert outcome.explain("p").code is ReasonCode.RETRY_LATER
    assert started(snapshot([node()], [paused()], queues=[closed]), NOW + 4) == []


def ends_after(**seconds: float) -> object:
    def remaining(job: RunningJob | PendingJob, _at: float) -> float:
        return seconds.get(job.id, math.inf)

    return remaining


def expected(job_id: str, state: Snapshot, **seconds: float) -> float | None:
    seen = only_ahead_of(job_id, planned(state).order, state)
    return start_of(job_id, seen, Policy(), NOW, ends_after(**seconds))  # type: ignore[arg-type]


def test_a_job_is_expected_at_the_end_of_its_pause() -> None:
    assert expected("p", snapshot([node()], [paused(until=NOW + 4)])) == NOW + 4


@pytest.mark.parametrize(("ends_in_s", "starts_in_s"), [(2, 4), (60, 60)])
def test_a_job_is_expected_when_its_pause_is_over_and_there_is_room(
    ends_in_s: float, starts_in_s: float
) -> None:
    state = snapshot([node(cpus=1)], [paused(until=NOW + 4)], [running("r")])
    assert expected("p", state, r=ends_in_s) == NOW + starts_in_s


def test_a_job_behind_one_that_pauses_is_expected_in_the_room_that_is_free_meanwhile() -> None:
    waiting = [paused("p", until=NOW + 4, since=1), pending("a", queued_at=2)]
    held = [running("r")]
    assert expected("a", snapshot([node(cpus=1)], waiting, held), r=2, p=100) == NOW + 2
    assert expected("a", snapshot([node(cpus=1)], waiting, held), r=9, p=100) == NOW + 109
