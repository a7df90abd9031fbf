"""The numbers behind what a waiting or a refused job is told."""

from __future__ import annotations

from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.testing.scheduling import amount, node, pending, queue, role, running, snapshot

NODES = [node("a", gpus=4, gpu_type="A100"), node("b", gpus=2, gpu_type="T4")]


def test_a_queue_says_in_which_way_it_is_in_the_way() -> None:
    jobs = [
        pending("held", queue="closed"),
        pending("lost", queue="gone"),
        pending("full", queue="small", gpus=1),
    ]
    queues = [queue("closed", is_open=False), queue("small", maximum=amount(cpus=9, memory_gb=9, gpus=1))]
    busy = [running("r", on="a", cards=[0], queue="small")]
    planned = plan(snapshot(NODES, jobs, busy, queues), Policy(), 1000.0)
    told = {job.id: planned.explain(job.id).details["obstacle"] for job in jobs}
    assert told == {"held": "queue_closed", "lost": "no_queue", "full": "over_maximum"}


def test_a_missing_type_of_card_is_told_with_those_that_are_there() -> None:
    told = can_ever_fit((role(gpus=1, gpu_type="H100"),), NODES, queue())
    assert told is not None
    assert told.details["gpu_type"] == "H100"
    assert told.details["gpu_types"] == ["A100", "T4"]


def test_a_queue_with_nodes_of_its_own_is_named() -> None:
    bound = can_ever_fit((role(gpus=3),), NODES, queue("lab", nodes=("b",)))
    free = can_ever_fit((role(gpus=5),), NODES, queue())
    assert bound is not None
    assert free is not None
    assert bound.details["queue"] == "lab"
    assert "queue" not in free.details
