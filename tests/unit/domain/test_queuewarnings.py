"""Queues that the present nodes cannot serve as their admins mean it."""

from __future__ import annotations

from footplate.domain.cluster import Gpu, Node, Queue
from footplate.domain.queuewarnings import warnings_of
from footplate.domain.resources import GIB, Resources

NODES = (
    Node("a", 8000, 32 * GIB, tuple(Gpu(index) for index in range(4))),
    Node("b", 8000, 32 * GIB),
)


def told(queue: Queue, *others: Queue) -> list[str]:
    return [str(one) for one in warnings_of(queue, (queue, *others), NODES)]


def test_a_queue_that_fits_is_not_warned_of() -> None:
    assert told(Queue("vision", share=Resources(16_000, 64 * GIB, 4), nodes=("a", "b"))) == []
    assert told(Queue("default")) == []


def test_nodes_that_nobody_knows_are_named_with_those_that_are_known() -> None:
    (warning,) = told(Queue("vision", nodes=("a", "c", "d")))
    assert "no such node now: c, d; known: a, b" in warning


def test_a_share_is_compared_with_the_nodes_of_the_queue() -> None:
    share = Resources(9000, GIB, 1)
    assert told(Queue("vision", share=share)) == []
    assert told(Queue("vision", share=share, nodes=("b",))) == [
        "its share of 1 GPU is more than the 0 that its nodes have",
        "its share of 9 CPUs is more than the 8 that its nodes have",
    ]


def test_shares_are_also_compared_together() -> None:
    vision, speech = Queue("vision", share=Resources(gpus=3)), Queue("speech", share=Resources(gpus=2))
    assert told(vision, speech) == [
        "the shares of all queues add up to 5 GPUs, which is more than the 4 of all nodes"
    ]
    assert told(Queue("text", share=Resources(1000)), vision, speech) == []


def test_nothing_is_said_while_no_node_is_known() -> None:
    assert warnings_of(Queue("vision", share=Resources(gpus=3), nodes=("a",)), (), ()) == []


def test_nothing_is_said_of_shares_where_an_engine_knows_its_nodes_alone() -> None:
    assert told(Queue("batch", share=Resources(64_000, GIB), engine="slurm")) == []


def test_a_share_is_compared_with_the_nodes_of_the_engine_of_the_queue() -> None:
    far = Node("far", 2000, GIB, engine="far")
    bound = Queue("lab", share=Resources(4000), engine="far")
    assert [one.code for one in warnings_of(bound, (bound,), (*NODES, far))] == ["share_above_nodes"]
