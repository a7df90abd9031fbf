"""When a waiting job is expected to start, and where it does not want to run again."""

from __future__ import annotations

import math
from dataclasses import replace

from footplate.scheduler.estimate import MOST_STEPS, only_ahead_of, start_of
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RunningJob
from footplate.testing.scheduling import node, pending, role, running, snapshot

NOW = 1000.0


def lasting(**seconds: float) -> object:
    def remaining(job: RunningJob | PendingJob, _at: float) -> float:
        return seconds.get(job.id, math.inf)

    return remaining


def expected(job_id: str, state: object, **seconds: float) -> float | None:
    return start_of(job_id, state, Policy(), NOW, lasting(**seconds))  # type: ignore[arg-type]


def test_a_job_that_fits_starts_now() -> None:
    assert expected("a", snapshot([node(cpus=2)], [pending("a")])) == NOW


def test_a_job_starts_when_enough_of_the_running_ones_have_ended() -> None:
    nodes = [node(cpus=2)]
    held = [running("x", cpus=1), running("y", cpus=1)]
    state = snapshot(nodes, [pending("a", role(cpus=2))], held)
    assert expected("a", state, x=60, y=200) == NOW + 200


def test_jobs_ahead_run_first() -> None:
    held = [running("x", cpus=2)]
    waiting = [pending("a", role(cpus=2), queued_at=1), pending("b", role(cpus=2), queued_at=2)]
    state = snapshot([node(cpus=2)], waiting, held)
    assert expected("b", state, x=10, a=30) == NOW + 40


def test_nobody_can_tell_when_a_job_may_never_end() -> None:
    held = [running("x", cpus=2)]
    state = snapshot([node(cpus=2)], [pending("a", role(cpus=2))], held)
    assert expected("a", state) is None


def test_a_far_away_start_is_not_followed_for_ever() -> None:
    waiting = [pending(f"j{n:04}", role(cpus=2), queued_at=n) for n in range(MOST_STEPS + 10)]
    state = snapshot([node(cpus=2)], waiting, [running("x", cpus=2)])
    ends = {job.id: 1.0 for job in waiting} | {"x": 1.0}
    assert expected(waiting[-1].id, state, **ends) is None


def test_jobs_behind_are_left_out() -> None:
    state = snapshot([node()], [pending("a", queued_at=1), pending("b", queued_at=2)])
    assert [job.id for job in only_ahead_of("a", ("a", "b"), state).pending] == ["a"]


def test_a_job_that_avoids_a_node_starts_on_another() -> None:
    shape = (replace(role(cpus=1), avoids=("a",)),)
    state = snapshot([node("a"), node("b")], [replace(pending("j"), shape=shape)])
    (start,) = plan(state, Policy(), NOW).starts
    assert [task.node for task in start.placement.tasks] == ["b"]
