"""Equal jobs stand together in the line, and a pass looks at few of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

from hypothesis import given
from hypothesis import strategies as st

from footplate.scheduler.line import Line, Waiting
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob
from footplate.testing.scheduling import node, pending, role, running, snapshot

SHAPES = [(role(cpus=1),), (role(cpus=2),), (role(cpus=2),)]


def jobs() -> st.SearchStrategy[PendingJob]:
    def one(name: str, shape: int, priority: int, queued_at: int, limit_s: int | None) -> PendingJob:
        job = pending(name, priority=priority, queued_at=queued_at, time_limit_s=limit_s)
        return replace(job, shape=SHAPES[shape])

    names = st.sampled_from([f"j{n}" for n in range(9)])
    limits = st.sampled_from([None, 60])
    return st.builds(one, names, st.integers(0, 2), st.integers(-1, 1), st.integers(0, 3), limits)


@given(st.lists(st.tuples(jobs(), st.booleans())))
def test_the_line_is_who_waits_in_order_however_they_came_and_went(
    moves: list[tuple[PendingJob, bool]],
) -> None:
    waiting, expected = Waiting(), dict[str, PendingJob]()
    for job, comes in moves:
        if comes:
            waiting.put(job)
            expected[job.id] = job
        else:
            waiting.discard(job.id)
            expected.pop(job.id, None)
    assert list(waiting.line()) == sorted(expected.values(), key=lambda job: job.rank)
    assert len(waiting) == len(waiting.line()) == len(expected)
    assert {*waiting} == expected.keys()


@given(st.lists(jobs(), unique_by=lambda job: job.id))
def test_jobs_are_met_in_order_and_nobody_behind_one_that_ends_its_group(
    given_jobs: list[PendingJob],
) -> None:
    met: list[PendingJob] = []

    def meets(job: PendingJob) -> bool:
        met.append(job)
        return job.shape is not SHAPES[0]

    Line.of(given_jobs).visit(meets)
    ended = set[float | None]()
    expected = []
    for job in sorted(given_jobs, key=lambda job: job.rank):
        if job.shape is SHAPES[0] and job.time_limit_s in ended:
            continue
        if job.shape is SHAPES[0]:
            ended.add(job.time_limit_s)
        expected.append(job)
    assert met == expected


def test_a_line_that_was_taken_stays_as_it_was() -> None:
    waiting = Waiting([pending("a"), pending("b")])
    line = waiting.line()
    waiting.discard("a")
    waiting.put(pending("c"))
    assert [job.id for job in line] == ["a", "b"]


class Counted(Sequence[PendingJob]):
    """A group that counts how often somebody looks at one of its jobs."""

    def __init__(self, group: Sequence[PendingJob]) -> None:
        self._group = group
        self.n_looks = 0

    def __len__(self) -> int:
        return len(self._group)

    @overload
    def __getitem__(self, at: int) -> PendingJob: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[PendingJob]: ...

    def __getitem__(self, at: Any) -> Any:
        self.n_looks += 1
        return self._group[at]


def test_a_pass_over_ten_thousand_equal_jobs_looks_at_those_that_start_and_one_more() -> None:
    [group] = Line.of(
        replace(pending(f"j{n:05}", queued_at=n), shape=SHAPES[0]) for n in range(10_000)
    ).groups
    counted = Counted(group)
    state = snapshot([node(cpus=4, memory_gb=999)], [], [running("r")])
    outcome = plan(replace(state, pending=Line([counted])), Policy(), 20_000.0)
    n_started = len(outcome.starts)
    assert 0 < n_started <= 4
    # Its rank and the job itself, and once whether the group pauses.
    assert counted.n_looks <= 2 * (n_started + 2)
    assert len(outcome.order) == 10_000 - n_started
