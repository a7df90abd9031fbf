"""What a waiting job is told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from footplate.domain.resources import GIB
from footplate.domain.states import Reason
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, Snapshot
from footplate.testing.scheduling import amount, node, pending, queue, role, running, snapshot

NOW = 1000.0


def reason(state: Snapshot, job_id: str = "j") -> Reason:
    told = plan(state, Policy(), NOW).explain(job_id)
    json.dumps(dict(told.details))
    return told


def test_the_numbers_are_in_the_sentence() -> None:
    nodes = [node("a", gpus=4), node("b", gpus=4)]
    busy = [running("r1", on="a", cards=[0, 1, 2]), running("r2", on="b", cards=[0, 1])]
    jobs = [
        pending("j1", gpus=4),
        pending("j2", gpus=3, queued_at=1),
        pending("j", gpus=4, cpus=2, queued_at=2),
    ]
    assert reason(snapshot(nodes, jobs, busy)).message == (
        "needs 4 GPUs at once; 3 of 8 free (node a: 1 free, node b: 2 free); "
        "would start now with 1 GPU; 2 jobs are ahead"
    )


def test_a_job_of_several_roles_is_told_which_of_them_must_ask_for_less() -> None:
    busy = [running("r", on="a", cards=[0, 1])]
    job = pending("j", role("ps"), role("worker", count=3, gpus=1))
    told = reason(snapshot([node("a", gpus=4)], [job], busy))
    assert "would start now with 2 tasks in role worker" in told.message
    assert told.details["would_fit"] == {"role": "worker", "tasks": 2}


def test_a_job_of_several_roles_is_told_nothing_where_no_single_role_could_make_room() -> None:
    busy = [running("r", on="a", cards=[0, 1, 2, 3])]
    job = pending("j", role("chief", gpus=1), role("worker", gpus=1))
    assert "would_fit" not in reason(snapshot([node("a", gpus=4)], [job], busy)).details


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (pending("j", cpus=4), "needs 4 CPUs at once; 1 of 4 free; would start now with 1 CPU"),
        (pending("j", cpus=1.5), "needs 1.5 CPUs at once; 1 of 4 free; would start now with 1 CPU"),
        (
            pending("j", memory_gb=8),
            "needs 8GB of memory at once; 2GB of 8GB free; would start now with 2GB of memory",
        ),
        (pending("j", gpus=2), "needs 2 GPUs at once; 1 of 2 free; would start now with 1 GPU"),
        (
            pending("j", gpus=2, gpu_type="t4"),
            "needs 2 GPUs of type t4 at once; 1 of 2 free; would start now with 1 GPU",
        ),
        (
            pending("j", count=2, gpus=1),
            "needs 2 GPUs at once (2 tasks of 1 GPU each); 1 of 2 free; would start now with 1 task",
        ),
        (
            pending("j", role("ps"), role("worker", gpus=1)),
            "needs 2 CPUs at once (2 tasks in 2 roles); 1 of 4 free",
        ),
    ],
)
def test_each_resource_is_named_with_its_unit(job: PendingJob, message: str) -> None:
    by = f"{datetime.fromtimestamp(NOW + 300, UTC):%Y-%m-%d %H:%M:%S} UTC"
    state = snapshot(
        [node(cpus=4, memory_gb=8, gpus=2, gpu_type="T4")],
        [job],
        [running(cpus=3, memory_gb=6, cards=[0], ends_by=NOW + 300)],
    )
    assert reason(state).message == f"{message}; starts by {by} at the latest"


def test_enough_in_all_but_not_on_one_node_is_said() -> None:
    nodes = [node("a", gpus=4), node("b", gpus=4)]
    busy = [running("r1", on="a", cards=[0], ends_by=NOW), running("r2", on="b", cards=[0], ends_by=NOW + 1)]
    assert reason(snapshot(nodes, [pending("j", gpus=4)], busy)).message == (
        "needs 4 GPUs on one node; 6 of 8 free, at most 3 on one node (node a: 3 free, node b: 3 free); "
        "would start now with 3 GPUs; starts at any moment"
    )


def test_enough_in_all_but_in_too_small_pieces_is_said() -> None:
    nodes = [node("a", gpus=8), node("b", gpus=8)]
    busy = [running("r1", on="a", cards=[0, 1]), running("r2", on="b", cards=range(5))]
    assert reason(snapshot(nodes, [pending("j", gpus=4, count=2)], busy)).message == (
        "needs 8 GPUs at once (2 tasks of 4 GPUs each); 9 of 16 free, in pieces that hold 1 of 2 tasks "
        "(node a: 6 free, node b: 3 free); would start now with 3 GPUs per task or 1 task; "
        "reserved for this job: a"
    )


def test_a_mix_that_no_node_has_is_said() -> None:
    nodes = [node("a", gpus=4, cpus=8), node("b", gpus=4, cpus=8)]
    busy = [running("r1", on="a", cards=range(4), cpus=0), running("r2", on="b", cpus=8)]
    assert reason(snapshot(nodes, [pending("j", gpus=4, cpus=8)], busy)).message == (
        "needs 4 GPUs and 8 CPUs on one node; no node has all of that free; reserved for this job: b"
    )


def test_only_the_nodes_with_most_free_are_named() -> None:
    nodes = [node(f"n{n}", gpus=4) for n in range(6)]
    busy = [running(f"r{n}", on=f"n{n}", cards=range(1 if n == 3 else 2)) for n in range(6)]
    message = reason(snapshot(nodes, [pending("j", gpus=4)], busy)).message
    assert "(node n0: 2 free, node n1: 2 free, node n2: 2 free, node n3: 3 free, 2 more with less)" in message


def test_the_details_hold_the_same_numbers_for_programs() -> None:
    nodes = [node("a", gpus=4, cpus=8, memory_gb=16), node("b", cpus=8, memory_gb=16)]
    jobs = [pending("first", gpus=4), pending("j", gpus=3, memory_gb=1, queued_at=1)]
    details = reason(snapshot(nodes, jobs, [running(cards=[0, 1], ends_by=NOW + 5)])).details
    assert details["needed"] == {"milli_cpus": 1000, "memory_bytes": GIB, "gpus": 3, "tasks": 1}
    assert details["free"] == {"milli_cpus": 15000, "memory_bytes": 32 * GIB, "gpus": 2}
    assert details["capacity"] == {"milli_cpus": 16000, "memory_bytes": 32 * GIB, "gpus": 4}
    assert (details["short_of"], details["ahead"], details["head"]) == ("gpus", 1, "first")
    assert [(entry["node"], entry["short"]) for entry in details["nodes"]] == [
        ("a", {"gpus": 1}),
        ("b", {"gpus": 3}),
    ]


def test_at_most_so_many_nodes_are_detailed() -> None:
    nodes = [node(f"n{n:02}", gpus=1) for n in range(30)]
    busy = [running(f"r{n}", on=f"n{n:02}", cpus=10) for n in range(30)]
    details = reason(snapshot(nodes, [pending("j", gpus=1, cpus=60)], busy)).details
    assert (len(details["nodes"]), details["n_nodes"]) == (20, 30)


def test_equal_jobs_behind_the_first_are_told_how_many_are_ahead() -> None:
    jobs = [pending(f"j{n}", cpus=2, queued_at=n) for n in range(3)]
    state = snapshot([node(cpus=2)], jobs, [running(ends_by=NOW + 60)])
    assert reason(state, "j1").message.startswith("behind 1 job; needs 2 CPUs at once; 1 of 2 free")
    assert reason(state, "j2").message.startswith("behind 2 jobs; ")
    assert reason(state, "j2").details["ahead"] == 2


def test_a_job_kept_out_by_a_reservation_is_told_which_limit_would_help() -> None:
    jobs = [pending("big", gpus=8), pending("j", gpus=1, queued_at=1)]
    told = reason(snapshot([node(gpus=8)], jobs, [running(cards=[0], ends_by=NOW + 600)]))
    assert told.message == (
        "reserved for job big (8 GPUs and 1 CPU), which is next; "
        "a time limit of 10 minutes or less would let this job start now; 1 job is ahead"
    )
    assert told.details["would_fit"] == {"time_limit_s": 600}
    assert told.details["head"] == "big"


def test_a_full_queue_is_named_with_its_numbers() -> None:
    limited = queue("vision", maximum=amount(cpus=64, gpus=8))
    busy = [running(cards=range(6), queue="vision")]
    told = reason(snapshot([node(gpus=16)], [pending("j", gpus=4, queue="vision")], busy, [limited]))
    assert told.message == "needs 4 GPUs; queue vision uses 6 of its maximum of 8"
    assert told.details["maximum"]["gpus"] == 8


def test_a_job_above_the_maximum_itself_is_told_so() -> None:
    limited = queue("vision", maximum=amount(cpus=64, gpus=8))
    told = reason(snapshot([node(gpus=16)], [pending("j", gpus=9, queue="vision")], queues=[limited]))
    assert told.message == (
        "requests 9 GPUs; queue vision may use at most 8; the job can start only when the maximum is raised"
    )


def test_jobs_held_back_by_another_queue_are_not_counted_as_ahead() -> None:
    jobs = [
        pending("held", queue="closed"),
        pending("held too", queue="closed", queued_at=1),
        pending("j", cpus=8, queued_at=2),
    ]
    state = snapshot([node(cpus=8)], jobs, [running()], [queue(), queue("closed", is_open=False)])
    assert reason(state, "j").details["ahead"] == 0
    assert reason(state, "held too").details["ahead"] == 1


def test_jobs_that_no_node_can_take_are_not_counted_as_ahead() -> None:
    jobs = [pending("huge", gpus=16, queue="other"), pending("j", cpus=8, queued_at=1)]
    state = snapshot([node(cpus=8)], jobs, [running()], [queue(), queue("other")])
    assert reason(state, "j").details["ahead"] == 0


def test_a_machine_without_nodes_in_service_is_said() -> None:
    assert reason(snapshot([node(is_schedulable=False)], [pending("j")])).message == "no node is in service"
    bound = snapshot([node("a")], [pending("j", queue="q")], queues=[queue("q", nodes=("z",))])
    assert reason(bound).message == "no node of queue q is in service"


def test_who_drained_the_nodes_is_said() -> None:
    drained = [
        replace(node(name), is_schedulable=False, drained_by=who)
        for name, who in (("a", "ann"), ("b", "bob"))
    ]
    assert reason(snapshot(drained, [pending("j")])).message == (
        "no node is in service: ann drained a, bob drained b"
    )
    bound = snapshot(drained, [pending("j", queue="q")], queues=[queue("q", nodes=("b",))])
    assert reason(bound).message == "no node of queue q is in service: bob drained b"


def test_what_the_nodes_in_service_cannot_take_is_said() -> None:
    told = reason(
        snapshot([node(gpus=8), node("big", gpus=16, is_schedulable=False)], [pending("j", gpus=16)])
    )
    assert told.message == "requests 16 GPUs per task; the largest node in service has 8"


def test_a_job_that_does_not_wait_has_no_reason() -> None:
    outcome = plan(snapshot(pending=[pending("j")]), Policy(), NOW)
    with pytest.raises(KeyError):
        outcome.explain("j")
