"""What holds for every pass, whatever the machines and the jobs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.domain.cluster import Node, Queue
from footplate.domain.resources import NOTHING, Resources, total
from footplate.scheduler.decisions import Plan
from footplate.scheduler.ledger import Ledger
from footplate.scheduler.line import Line
from footplate.scheduler.pack import fits, total_of
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RoleShape, RunningJob, Snapshot
from footplate.testing.scheduling import amount, node, pending, queue, role

T = TypeVar("T")

NOW = 1000.0
TYPES = ("", "A100", "t4")
NODE_NAMES = ("a", "b", "c", "d")
QUEUE_NAMES = ("p", "q")


def nodes() -> st.SearchStrategy[list[Node]]:
    def one(name: str) -> st.SearchStrategy[Node]:
        return st.builds(
            node,
            st.just(name),
            cpus=st.integers(0, 8),
            memory_gb=st.integers(0, 8),
            gpu_type=st.lists(st.sampled_from(TYPES), max_size=4),
            in_use_by_others=st.sets(st.integers(0, 3), max_size=1),
            is_schedulable=st.integers(0, 9).map(bool),
        )

    return st.integers(1, 4).flatmap(lambda n: st.tuples(*map(one, NODE_NAMES[:n]))).map(list)


def amounts() -> st.SearchStrategy[Resources]:
    return st.builds(amount, cpus=st.integers(0, 12), memory_gb=st.integers(0, 12), gpus=st.integers(0, 6))


def queues() -> st.SearchStrategy[list[Queue]]:
    def one(name: str) -> st.SearchStrategy[Queue]:
        return st.builds(
            queue,
            st.just(name),
            share=st.just(NOTHING) | amounts(),
            maximum=st.none() | amounts(),
            nodes=st.just(()) | st.lists(st.sampled_from(NODE_NAMES), max_size=2).map(tuple),
            is_open=st.integers(0, 9).map(bool),
        )

    return st.tuples(*map(one, QUEUE_NAMES)).map(list)


def roles() -> st.SearchStrategy[RoleShape]:
    return st.builds(
        role,
        st.sampled_from(("main", "ps")),
        count=st.integers(1, 3),
        cpus=st.integers(0, 4),
        memory_gb=st.integers(0, 4),
        gpus=st.integers(0, 3),
        gpu_type=st.sampled_from(TYPES),
    )


@st.composite
def waiting(draw: st.DrawFn) -> list[PendingJob]:
    shapes = draw(st.lists(st.lists(roles(), min_size=1, max_size=2), min_size=1, max_size=4))
    return [
        pending(
            f"j{n}",
            *draw(st.sampled_from(shapes)),
            queue=draw(st.sampled_from(QUEUE_NAMES)),
            priority=draw(st.integers(0, 2)),
            queued_at=draw(st.integers(0, 5)),
            time_limit_s=draw(st.sampled_from((None, 10, 60))),
        )
        for n in range(draw(st.integers(0, 10)))
    ]


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Draw machines, queues and waiting jobs, with some earlier jobs running where the scheduler put them."""
    machines, shares = tuple(draw(nodes())), tuple(draw(queues()))
    earlier = plan(Snapshot(machines, shares, (), tuple(draw(waiting()))), Policy(), 0)
    running = tuple(
        RunningJob(
            f"r-{start.job_id}",
            draw(st.sampled_from(QUEUE_NAMES)),
            0,
            start.placement,
            draw(st.sampled_from((None, NOW - 5, NOW + 5, NOW + 30))),
        )
        for start in earlier.starts
    )
    return Snapshot(machines, shares, running, tuple(draw(waiting())))


def decide(state: Snapshot) -> Plan:
    return plan(state, Policy(), NOW)


def free_after(state: Snapshot, outcome: Plan) -> Ledger:
    ledger = Ledger.of(node for node in state.nodes if node.is_schedulable)
    for placement in [job.placement for job in state.running] + [start.placement for start in outcome.starts]:
        ledger.take(placement)
    return ledger


def use_of(name: str, state: Snapshot, outcome: Plan) -> Resources:
    jobs = {job.id: job for job in state.pending}
    started = [start.placement for start in outcome.starts if jobs[start.job_id].queue == name]
    held = [job.placement for job in state.running if job.queue == name]
    return total(placement.resources for placement in started + held)


@settings(deadline=None)
@given(snapshots())
def test_no_node_and_no_card_is_given_out_twice(state: Snapshot) -> None:
    outcome = decide(state)
    by_name = {node.name: node for node in state.nodes}
    held = [task for job in state.running for task in job.placement.tasks]
    new = [task for start in outcome.starts for task in start.placement.tasks]
    for name, machine in by_name.items():
        used = total(task.resources for task in held + new if task.node == name)
        assert used.fits_in(machine.capacity)
    cards = Counter((task.node, card) for task in held + new for card in task.gpus)
    assert not cards or max(cards.values()) == 1
    for task in new:
        usable = {gpu.index for gpu in by_name[task.node].gpus if not gpu.in_use_by_others}
        assert by_name[task.node].is_schedulable
        assert len(task.gpus) == task.resources.gpus
        assert set(task.gpus) <= usable


@settings(deadline=None)
@given(snapshots())
def test_a_gang_starts_whole_on_nodes_and_cards_that_it_may_use(state: Snapshot) -> None:
    jobs = {job.id: job for job in state.pending}
    by_name = {node.name: node for node in state.nodes}
    shares = {queue.name: queue for queue in state.queues}
    for start in decide(state).starts:
        job = jobs[start.job_id]
        wanted = [(r, index) for r in job.shape for index in range(r.count)]
        assert [(t.role, t.index) for t in start.placement.tasks] == [(r.role, index) for r, index in wanted]
        for task, (asked, _) in zip(start.placement.tasks, wanted, strict=True):
            assert task.resources == asked.resources
            assert task.address == by_name[task.node].address
            assert task.node in (shares[job.queue].nodes or by_name)
            types = {by_name[task.node].gpus[card].type.lower() for card in task.gpus}
            assert not asked.gpu_type or types <= {asked.gpu_type.lower()}


@settings(deadline=None)
@given(snapshots())
def test_no_start_pushes_a_queue_above_its_maximum(state: Snapshot) -> None:
    outcome = decide(state)
    jobs = {job.id: job for job in state.pending}
    for share in state.queues:
        asked = total(
            total_of(jobs[start.job_id].shape)
            for start in outcome.starts
            if jobs[start.job_id].queue == share.name
        )
        used = use_of(share.name, state, outcome)
        assert share.is_open or asked == NOTHING
        for dimension in ("milli_cpus", "memory_bytes", "gpus") if share.maximum else ():
            assert not getattr(asked, dimension) or getattr(used, dimension) <= getattr(
                share.maximum, dimension
            )


@settings(deadline=None)
@given(snapshots())
def test_every_job_is_started_or_told_why_not(state: Snapshot) -> None:
    outcome = decide(state)
    started = [start.job_id for start in outcome.starts]
    assert sorted([*started, *outcome.order]) == sorted(job.id for job in state.pending)
    for job_id in outcome.order:
        told = outcome.explain(job_id)
        assert told.message
        assert told.details["ahead"] <= outcome.position[job_id]
        assert json.loads(json.dumps(dict(told.details)))


def _shuffled(values: Iterable[T], random: Random) -> tuple[T, ...]:
    given = list(values)
    return tuple(random.sample(given, len(given)))


@settings(deadline=None)
@given(snapshots(), st.randoms(use_true_random=False))
def test_a_plan_depends_on_nothing_but_what_is_in_the_snapshot(state: Snapshot, random: Random) -> None:
    shuffled = Snapshot(
        nodes=_shuffled(state.nodes, random),
        queues=_shuffled(state.queues, random),
        running=_shuffled(state.running, random),
        pending=_shuffled(state.pending, random),
    )
    one, other = decide(state), decide(shuffled)
    assert (one.starts, one.order) == (other.starts, other.order)
    assert list(map(one.explain, one.order)) == list(map(other.explain, other.order))


@settings(deadline=None)
@given(snapshots(), st.booleans())
def test_a_plan_is_the_same_when_every_job_is_looked_at_by_itself(state: Snapshot, refuses: bool) -> None:
    policy = Policy(refuse_impossible=refuses)
    one = plan(state, policy, NOW)
    other = plan(replace(state, pending=Line((job,) for job in state.pending)), policy, NOW)
    assert (one.starts, one.refusals, one.order) == (other.starts, other.refusals, other.order)
    assert (one.left_out, one.wakes_at) == (other.left_out, other.wakes_at)
    assert list(map(one.explain, one.order)) == list(map(other.explain, other.order))


@settings(deadline=None)
@given(snapshots())
def test_equal_jobs_start_by_priority_and_then_by_age(state: Snapshot) -> None:
    outcome = decide(state)
    started = {start.job_id for start in outcome.starts}
    for one, other in product(state.pending, repeat=2):
        is_equal = (one.queue, one.shape, one.time_limit_s) == (other.queue, other.shape, other.time_limit_s)
        is_before = (-one.priority, one.queued_at, one.id) < (-other.priority, other.queued_at, other.id)
        if is_equal and is_before and other.id in started:
            assert one.id in started


@settings(deadline=None)
@given(snapshots())
def test_the_first_in_line_waits_only_when_it_must(state: Snapshot) -> None:
    outcome = decide(state)
    if outcome.starts or not outcome.order:
        return
    first = next(job for job in state.pending if job.id == outcome.order[0])
    share = next(queue for queue in state.queues if queue.name == first.queue)
    asked = total_of(first.shape)
    is_within = share.maximum is None or (use_of(share.name, state, outcome) + asked).fits_in(share.maximum)
    rooms = free_after(state, outcome).among(share.nodes)
    assert not share.is_open or not is_within or not fits(first.shape, rooms)


@settings(deadline=None)
@given(snapshots())
def test_a_reservation_is_kept_by_all_that_starts_behind_it(state: Snapshot) -> None:
    """At the reserved time, with all that is bounded over by then, the job fits in what is left."""
    outcome = decide(state)
    jobs = {job.id: job for job in state.pending}
    nodes_of = {queue.name: queue.nodes for queue in state.queues}
    for job_id in outcome.order:
        at = outcome.explain(job_id).details.get("expected_start_at")
        if at is None:
            continue
        ledger = free_after(state, outcome)
        for job in state.running:
            if job.ends_by is not None and job.ends_by <= at:
                ledger.give_back(job.placement)
        for start in outcome.starts:
            limit_s = jobs[start.job_id].time_limit_s
            if limit_s is not None and NOW + limit_s <= at:
                ledger.give_back(start.placement)
        assert fits(jobs[job_id].shape, ledger.among(nodes_of[jobs[job_id].queue]))


@given(snapshots(), roles(), st.sampled_from(QUEUE_NAMES), st.integers(0, 2))
@settings(deadline=None)
def test_one_for_which_a_pass_left_no_room_is_not_started_by_the_next(
    state: Snapshot, shape: RoleShape, queue_name: str, priority: int
) -> None:
    outcome = decide(state)
    newcomer = pending("new", shape, queue=queue_name, priority=priority, queued_at=9)
    started = {start.job_id: start.placement for start in outcome.starts}
    running = tuple(
        RunningJob(job.id, job.queue, job.priority, started[job.id])
        for job in state.pending
        if job.id in started
    )
    left = tuple(job for job in state.pending if job.id not in started)
    after = Snapshot(state.nodes, state.queues, (*state.running, *running), (*left, newcomer))
    if not outcome.has_room(newcomer):
        assert "new" not in [start.job_id for start in decide(after).starts]
