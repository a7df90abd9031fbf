"""Who starts, in which order, and who must wait for whom."""

from __future__ import annotations

import pytest

from footplate.domain.states import ReasonCode
from footplate.scheduler.decisions import Plan
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import Snapshot
from footplate.testing.scheduling import amount, node, pending, queue, role, running, snapshot

NOW = 1000.0


def decide(state: Snapshot, policy: Policy | None = None) -> Plan:
    return plan(state, policy or Policy(), NOW)


def started(state: Snapshot) -> list[str]:
    return [start.job_id for start in decide(state).starts]


def code(outcome: Plan, job_id: str) -> ReasonCode:
    return outcome.explain(job_id).code


def test_nothing_waiting_is_an_empty_plan() -> None:
    outcome = decide(snapshot())
    assert (outcome.starts, outcome.refusals, outcome.order, outcome.position) == ((), (), (), {})


def test_higher_priority_goes_first_then_age_then_id() -> None:
    jobs = [
        pending("young", queued_at=3),
        pending("b", queued_at=2),
        pending("a", queued_at=2),
        pending("urgent", queued_at=9, priority=5),
        pending("low", queued_at=1, priority=-1),
    ]
    outcome = decide(snapshot([node(cpus=2)], jobs))
    assert [start.job_id for start in outcome.starts] == ["urgent", "a"]
    assert outcome.order == ("b", "young", "low")
    assert outcome.position == {"b": 0, "young": 1, "low": 2}


def test_nodes_out_of_service_take_nothing() -> None:
    outcome = decide(snapshot([node(is_schedulable=False)], [pending("j")]))
    assert not outcome.starts
    assert code(outcome, "j") is ReasonCode.NO_NODE


def test_a_queue_may_be_bound_to_nodes() -> None:
    state = snapshot(
        [node("a"), node("b", gpus=8)],
        [pending("j", queue="q", cpus=8)],
        queues=[queue("q", nodes=("b", "gone"))],
    )
    assert decide(state).starts[0].placement.tasks[0].node == "b"


def test_jobs_of_a_closed_or_missing_queue_wait() -> None:
    jobs = [pending("closed", queue="closed"), pending("lost", queue="lost"), pending("ok", queued_at=9)]
    outcome = decide(snapshot(pending=jobs, queues=[queue(), queue("closed", is_open=False)]))
    assert [start.job_id for start in outcome.starts] == ["ok"]
    assert code(outcome, "closed") is code(outcome, "lost") is ReasonCode.QUEUE_LIMIT


def test_a_queue_never_exceeds_its_maximum() -> None:
    jobs = [pending(f"j{n}", queued_at=n, gpus=2) for n in range(5)]
    state = snapshot(
        [node(gpus=8)], jobs, [running(cards=[7])], [queue(maximum=amount(cpus=64, memory_gb=1, gpus=5))]
    )
    assert started(state) == ["j0", "j1"]


def test_a_zero_in_the_maximum_forbids_that_resource() -> None:
    limited = queue(maximum=amount(cpus=8, memory_gb=8))
    assert started(snapshot([node(gpus=8)], [pending("gpu", gpus=1), pending("cpu")], queues=[limited])) == [
        "cpu"
    ]


def test_a_queue_over_its_lowered_gpu_maximum_still_starts_cpu_jobs() -> None:
    limited = queue(maximum=amount(cpus=8, memory_gb=8, gpus=1))
    state = snapshot([node(gpus=8)], [pending("cpu")], [running(cards=[0, 1])], [limited])
    assert started(state) == ["cpu"]


def test_a_job_over_its_queues_maximum_does_not_hold_up_other_queues() -> None:
    limited = queue("limited", maximum=amount(cpus=4, gpus=2))
    jobs = [pending("over", queue="limited", gpus=2), pending("other", queued_at=1, gpus=6)]
    state = snapshot(
        [node(gpus=8)], jobs, [running(queue="limited", cards=[0, 1], ends_by=NOW + 9)], [queue(), limited]
    )
    assert started(state) == ["other"]


def test_a_queue_borrows_what_is_idle() -> None:
    state = snapshot(
        [node(gpus=8)],
        [pending("j", gpus=8)],
        queues=[queue(share=amount(cpus=8, gpus=2)), queue("other")],
    )
    assert started(state) == ["j"]


def test_jobs_within_a_share_go_before_those_that_borrow() -> None:
    jobs = [
        pending("borrower", queue="rich", priority=9, gpus=4),
        pending("covered", queue="poor", gpus=4, queued_at=5),
    ]
    queues = [queue("rich"), queue("poor", share=amount(cpus=8, gpus=4))]
    outcome = decide(snapshot([node(gpus=4)], jobs, queues=queues))
    assert [start.job_id for start in outcome.starts] == ["covered"]
    assert outcome.order == ("borrower",)


def test_a_share_covers_only_as_many_jobs_as_fit_in_it() -> None:
    jobs = [pending(f"poor{n}", queue="poor", gpus=2, queued_at=n) for n in range(3)]
    jobs.append(pending("rich", queue="rich", priority=1, gpus=2))
    queues = [queue("rich"), queue("poor", share=amount(cpus=8, gpus=4))]
    assert started(snapshot([node(gpus=8)], jobs, queues=queues)) == ["poor0", "poor1", "rich", "poor2"]


def test_what_a_queue_already_uses_counts_against_its_share() -> None:
    jobs = [pending("poor", queue="poor", gpus=2), pending("rich", queue="rich", priority=1, gpus=2)]
    queues = [queue("rich"), queue("poor", share=amount(cpus=8, gpus=4))]
    busy = running(queue="poor", cards=[0, 1, 2])
    assert started(snapshot([node(gpus=5)], jobs, [busy], queues)) == ["rich"]


def test_small_jobs_without_a_limit_do_not_pass_a_big_one() -> None:
    jobs = [pending("big", gpus=8), pending("small", queued_at=1, gpus=1)]
    outcome = decide(snapshot([node(gpus=8)], jobs, [running(cards=[0], ends_by=NOW + 60)]))
    assert not outcome.starts
    assert code(outcome, "big") is ReasonCode.INSUFFICIENT_RESOURCES
    assert code(outcome, "small") is ReasonCode.RESERVED_FOR_ANOTHER


def test_a_job_that_ends_in_time_is_backfilled() -> None:
    jobs = [
        pending("big", gpus=8),
        pending("late", queued_at=1, gpus=1, time_limit_s=61),
        pending("in time", queued_at=2, gpus=1, time_limit_s=60),
    ]
    assert started(snapshot([node(gpus=8)], jobs, [running(cards=[0], ends_by=NOW + 60)])) == ["in time"]


def test_a_job_on_another_node_is_backfilled() -> None:
    jobs = [pending("big", gpus=8), pending("small", queued_at=1, gpus=2)]
    state = snapshot(
        [node("a", gpus=8), node("b", gpus=4)], jobs, [running(on="a", cards=[0], ends_by=NOW + 60)]
    )
    assert started(state) == ["small"]


@pytest.mark.parametrize("busy_cards", [range(4), range(4, 8)])
def test_cards_that_the_big_job_leaves_over_are_backfilled(busy_cards: range) -> None:
    jobs = [pending("big", gpus=6)] + [pending(f"small{n}", queued_at=1 + n, gpus=1) for n in range(4)]
    outcome = decide(snapshot([node(gpus=8)], jobs, [running(cards=busy_cards, ends_by=NOW + 60)]))
    assert [start.job_id for start in outcome.starts] == ["small0", "small1"]
    assert outcome.explain("big").details["expected_start_at"] == NOW + 60


def test_room_that_is_left_over_is_backfilled_only_once() -> None:
    jobs = [pending("big", cpus=7)] + [pending(f"small{n}", queued_at=1 + n) for n in range(2)]
    assert started(snapshot([node(cpus=8)], jobs, [running(cpus=6, ends_by=NOW + 60)])) == ["small0"]


def test_all_that_ends_at_the_same_time_counts_as_left_over() -> None:
    busy = [running(name, cpus=3, ends_by=NOW + 60) for name in ("r1", "r2")]
    jobs = [pending("big", cpus=5), pending("small", queued_at=1, cpus=2)]
    assert started(snapshot([node(cpus=8)], jobs, busy)) == ["small"]


def test_cpus_of_a_reserved_node_are_kept_as_well_as_its_cards() -> None:
    jobs = [
        pending("big", gpus=8, cpus=60),
        pending("cpu", queued_at=1, cpus=8),
        pending("tiny", queued_at=2, cpus=4),
    ]
    state = snapshot([node(gpus=8, cpus=64)], jobs, [running(cards=[0], ends_by=NOW + 60)])
    assert started(state) == ["tiny"]


def test_the_reservation_is_for_the_earliest_end_that_helps() -> None:
    busy = [
        running("r1", cards=[0, 1], ends_by=NOW + 30),
        running("r2", cards=[2, 3], ends_by=NOW + 10),
        running("r3", cards=[4, 5], ends_by=NOW + 20),
    ]
    outcome = decide(snapshot([node(gpus=6)], [pending("big", gpus=4)], busy))
    assert outcome.explain("big").details["expected_start_at"] == NOW + 20


def test_jobs_started_in_this_pass_count_as_running() -> None:
    jobs = [pending("first", gpus=3, time_limit_s=50), pending("big", queued_at=1, gpus=4)]
    outcome = decide(snapshot([node(gpus=4)], jobs))
    assert outcome.explain("big").details["expected_start_at"] == NOW + 50


def test_without_limits_the_node_closest_to_free_is_reserved_and_others_are_filled() -> None:
    nodes = [node("a", gpus=8), node("b", gpus=8), node("c", gpus=8)]
    busy = [
        running("r1", on="a", cards=range(4)),
        running("r2", on="b", cards=[0]),
        running("r3", on="c", cards=[0, 1]),
    ]
    jobs = [pending("big", gpus=8)] + [
        pending(f"s{n}", queued_at=1 + n, gpus=5, time_limit_s=1) for n in range(2)
    ]
    outcome = decide(snapshot(nodes, jobs, busy))
    assert {start.job_id: start.placement.tasks[0].node for start in outcome.starts} == {"s0": "c"}
    big = outcome.explain("big")
    assert big.details["reserved_nodes"] == ["b"]
    assert "expected_start_at" not in big.details
    assert code(outcome, "s1") is ReasonCode.RESERVED_FOR_ANOTHER


def test_without_limits_no_room_is_handed_out_that_one_ending_job_would_complete() -> None:
    busy = [running("r1", cards=[0, 1]), running("r2", cards=[2, 3, 4, 5])]
    jobs = [pending("big", gpus=6), pending("small", queued_at=1, gpus=2)]
    assert started(snapshot([node(gpus=8)], jobs, busy)) == []


def test_big_jobs_on_separate_nodes_each_get_a_reservation() -> None:
    nodes = [node("a", gpus=8, gpu_type="A100"), node("t", gpus=8, gpu_type="T4")]
    busy = [
        running("r1", on="a", cards=[0], ends_by=NOW + 9),
        running("r2", on="t", cards=[0], ends_by=NOW + 9),
    ]
    jobs = [
        pending("big A100", gpus=8, gpu_type="A100"),
        pending("big T4", queued_at=1, gpus=8, gpu_type="T4"),
        pending("small T4", queued_at=2, gpus=1, gpu_type="T4"),
    ]
    outcome = decide(snapshot(nodes, jobs, busy))
    assert not outcome.starts
    assert outcome.explain("small T4").details["head"] == "big T4"


def test_a_job_that_fits_nowhere_reserves_nothing() -> None:
    jobs = [pending("huge", gpus=16), pending("small", queued_at=1, gpus=1)]
    outcome = decide(snapshot([node(gpus=8)], jobs, [running(cards=[0])]))
    assert [start.job_id for start in outcome.starts] == ["small"]
    assert outcome.refusals == ()
    assert code(outcome, "huge") is ReasonCode.NO_NODE


def test_a_job_that_waits_for_cards_of_others_reserves_nothing() -> None:
    jobs = [pending("big", gpus=2), pending("small", queued_at=1, gpus=1)]
    outcome = decide(snapshot([node(gpus=2, in_use_by_others=[0])], jobs))
    assert [start.job_id for start in outcome.starts] == ["small"]
    assert code(outcome, "big") is ReasonCode.INSUFFICIENT_RESOURCES
    assert outcome.explain("big").details["gpus_in_use_by_others"] == 1


def test_small_jobs_do_not_use_up_the_maximum_that_a_bigger_one_of_their_queue_waits_for() -> None:
    limited = queue(maximum=amount(cpus=64, memory_gb=64, gpus=4))
    jobs = [
        pending("big", gpus=4),
        pending("small", queued_at=1, gpus=1),
        pending("short", queued_at=2, gpus=1, time_limit_s=30),
    ]
    outcome = decide(snapshot([node(gpus=8)], jobs, [running(cards=[0], ends_by=NOW + 30)], [limited]))
    assert [start.job_id for start in outcome.starts] == ["short"]
    assert code(outcome, "big") is ReasonCode.QUEUE_LIMIT
    assert code(outcome, "small") is ReasonCode.RESERVED_FOR_ANOTHER


def test_a_job_with_reserved_nodes_keeps_its_part_of_the_maximum_too() -> None:
    limited = queue("limited", maximum=amount(cpus=64, memory_gb=64, gpus=4))
    nodes = [node("a", gpus=4), node("b", gpus=1)]
    jobs = [pending("big", queue="limited", gpus=4), pending("small", queue="limited", queued_at=1, gpus=1)]
    state = snapshot(nodes, jobs, [running(on="a", cards=[0], ends_by=NOW + 30)], [queue(), limited])
    assert started(state) == []


def test_impossible_jobs_are_refused_when_the_policy_says_so() -> None:
    jobs = [pending("huge", gpus=16), pending("wait", gpus=1, queued_at=1)]
    outcome = decide(snapshot([node(gpus=1)], jobs, [running(cards=[0])]), Policy(refuse_impossible=True))
    (refusal,) = outcome.refusals
    assert (refusal.job_id, refusal.reason.code) == ("huge", ReasonCode.NEVER_FITS)
    assert outcome.order == ("wait",)


def test_a_shape_that_fits_is_tried_again_after_one_that_did_not() -> None:
    jobs = [pending("a", gpus=2), pending("b", gpus=4, queued_at=1), pending("c", role(gpus=2), queued_at=2)]
    assert started(snapshot([node("x", gpus=2), node("y", gpus=2)], jobs)) == ["a", "c"]


def test_a_plan_says_whether_it_leaves_room_for_one_that_comes_later() -> None:
    queues = [queue(), queue("closed", is_open=False), queue("small", maximum=amount(cpus=1, memory_gb=9))]
    outcome = decide(snapshot([node(cpus=4)], [pending("first", cpus=2)], queues=queues))
    assert [start.job_id for start in outcome.starts] == ["first"]
    assert outcome.has_room(pending("later", cpus=2))
    assert not outcome.has_room(pending("later", cpus=3))
    assert not outcome.has_room(pending("later", queue="closed"))
    assert not outcome.has_room(pending("later", queue="unknown"))
    assert outcome.has_room(pending("later", queue="small", cpus=1))
    assert not outcome.has_room(pending("later", queue="small", cpus=2))
