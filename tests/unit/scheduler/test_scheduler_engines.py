"""Queues that are bound to an engine, engines that are away, and engines that place by themselves."""

from __future__ import annotations

import pytest

from footplate.domain.cluster import EngineState
from footplate.domain.messages import text
from footplate.domain.states import ReasonCode
from footplate.scheduler.decisions import Plan
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.testing.scheduling import amount, node, pending, queue, role, running, snapshot

HERE, FAR = EngineState("local"), EngineState("far")
AWAY = EngineState("far", away=text("no route to host"))
SLURM = EngineState("slurm", places_itself=True)
NODES = (node("a", cpus=4, engine="local"), node("b", cpus=64, engine="far"))
FAR_QUEUE = queue("lab", engine="far")
SLURM_QUEUE = queue("batch", engine="slurm", maximum=amount(cpus=10))


def planned(*jobs: object, engines: tuple[EngineState, ...] = (HERE, FAR, SLURM), **more: object) -> Plan:
    queues = (queue(), FAR_QUEUE, SLURM_QUEUE)
    seen = snapshot(NODES, jobs, queues=queues, engines=engines, **more)  # type: ignore[arg-type]
    return plan(seen, Policy(), 0)


def test_a_job_of_a_bound_queue_runs_on_its_engines_nodes_only() -> None:
    (start,) = planned(pending(cpus=1, queue="lab")).starts
    assert (start.placement.engine, start.placement.tasks[0].node) == ("far", "b")


def test_room_of_another_engine_is_of_no_use_to_a_bound_queue() -> None:
    outcome = planned(pending(cpus=1, queue="lab"), running=[running(on="b", cpus=64)])
    assert not outcome.starts
    assert outcome.explain("job").code is ReasonCode.INSUFFICIENT_RESOURCES


def test_a_job_waits_for_an_engine_that_is_away() -> None:
    outcome = planned(pending(cpus=1, queue="lab"), engines=(HERE, AWAY))
    assert not outcome.starts
    reason = outcome.explain("job")
    assert reason.code is ReasonCode.ENGINE_AWAY
    assert reason.message == "engine far cannot be used now: no route to host"


def test_a_queue_whose_engine_is_not_configured_says_so() -> None:
    reason = planned(pending(queue="lab"), engines=(HERE,)).explain("job")
    assert reason.code is ReasonCode.ENGINE_AWAY
    assert "queue lab is bound to engine far, which this server does not have" in reason.message


def test_a_job_that_fits_only_on_nodes_of_an_engine_that_is_away_waits_for_it() -> None:
    outcome = planned(pending("large", cpus=32), pending("small", cpus=1), engines=(HERE, AWAY))
    assert [start.job_id for start in outcome.starts] == ["small"]
    reason = outcome.explain("large")
    assert reason.code is ReasonCode.ENGINE_AWAY
    assert "engine far cannot be used now: no route to host; without its nodes:" in reason.message


def test_a_job_is_not_ahead_of_others_while_its_engine_is_away() -> None:
    outcome = planned(
        pending("far", queue="lab"), pending("here", cpus=4), engines=(HERE, AWAY), running=[running(cpus=4)]
    )
    assert "ahead" not in outcome.explain("here").message


@pytest.mark.parametrize(
    ("engines", "where", "is_refused"),
    [
        ((HERE, FAR), queue(), True),
        ((HERE, AWAY), queue(), False),
        ((HERE, AWAY), queue("own", engine="local"), True),
        ((HERE, AWAY), FAR_QUEUE, False),
        ((HERE, FAR), FAR_QUEUE, True),
        ((HERE, SLURM), queue(), True),
        ((HERE, SLURM), queue("batch", engine="slurm"), False),
    ],
)
def test_nothing_is_too_large_for_nodes_that_nobody_knows(
    engines: tuple[EngineState, ...], where: object, is_refused: bool
) -> None:
    told = can_ever_fit((role(cpus=1000),), NODES, where, engines)  # type: ignore[arg-type]
    assert (told is not None) is is_refused


def test_more_than_a_queues_maximum_is_too_much_on_every_engine() -> None:
    assert can_ever_fit((role(cpus=11),), NODES, SLURM_QUEUE, (SLURM,)) is not None


def test_an_engine_that_places_by_itself_is_handed_jobs_whole_without_nodes() -> None:
    (start,) = planned(pending(cpus=2, count=4, queue="batch")).starts
    assert start.placement.engine == "slurm"
    assert start.placement.is_open
    assert {task.node for task in start.placement.tasks} == {""}
    assert len(start.placement.tasks) == 4


def test_a_queues_maximum_bounds_what_is_handed_over() -> None:
    outcome = planned(*(pending(f"job-{n}", cpus=4, queue="batch", queued_at=n) for n in range(4)))
    assert [start.job_id for start in outcome.starts] == ["job-0", "job-1"]
    assert outcome.explain("job-2").code is ReasonCode.QUEUE_LIMIT


def test_a_new_job_finds_room_where_the_engine_places_by_itself() -> None:
    outcome = planned()
    assert outcome.has_room(pending(cpus=5, queue="batch"))
    assert not outcome.has_room(pending(cpus=500, queue="lab"))
