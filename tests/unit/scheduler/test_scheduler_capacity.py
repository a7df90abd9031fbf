"""What is free for a queue, and how many tasks of a size find room."""

from __future__ import annotations

from footplate.domain.capacity import Cards, Stock
from footplate.domain.cluster import Gpu, Node, Placement, Queue, TaskPlacement
from footplate.domain.resources import GIB, NOTHING, UNLIMITED, Resources
from footplate.scheduler.capacity import MOST_COUNTED, Survey, survey
from footplate.scheduler.snapshot import RoleShape

CARDS = tuple(Gpu(index, "A100") for index in range(4))
NODES = (Node("a", 8000, 32 * GIB, CARDS), Node("b", 4000, 16 * GIB, (Gpu(0, "V100"),)))
ONE_CARD = RoleShape("", 1, Resources(2000, GIB, 1), "A100")


def looked(queue: Queue | None = None, *held: Placement, used: Resources = NOTHING) -> Survey:
    return survey(queue or Queue("default"), NODES, held, used)


def on_a(*cards: int) -> Placement:
    task = TaskPlacement("main", 0, "a", Resources(1000, GIB, len(cards)), cards)
    return Placement((task,))


def test_free_total_and_the_largest_node_are_told_by_type() -> None:
    capacity = looked(None, on_a(0, 1, 2)).capacity
    assert capacity.cards == (Cards("A100", Stock(1, 4, 4)), Cards("V100", Stock(1, 1, 1)))
    assert capacity.milli_cpus == Stock(11_000, 12_000, 8000)
    assert capacity.memory_bytes == Stock(47 * GIB, 48 * GIB, 32 * GIB)
    assert capacity.headroom is None


def test_tasks_are_counted_by_what_runs_out_first() -> None:
    assert looked().fit_now(ONE_CARD) == 4
    assert looked(None, on_a(0)).fit_now(ONE_CARD) == 3
    assert looked(None, on_a(0)).fit_at_most(ONE_CARD) == 4
    assert looked().fit_now(RoleShape("", 1, Resources(3000, GIB, 0))) == 2 + 1
    assert looked().fit_now(RoleShape("", 1, Resources(1000, GIB, 5))) == 0


def test_the_maximum_of_the_queue_counts_too() -> None:
    queue = Queue("vision", maximum=Resources(UNLIMITED, UNLIMITED, 2))
    found = looked(queue, on_a(0), used=Resources(1000, GIB, 1))
    assert found.fit_now(ONE_CARD) == 1
    assert found.fit_at_most(ONE_CARD) == 2
    assert found.capacity.headroom == Resources(UNLIMITED, UNLIMITED, 1)


def test_a_maximum_that_was_lowered_below_the_use_leaves_nothing() -> None:
    queue = Queue("vision", maximum=Resources(1000, GIB, 1))
    headroom = looked(queue, used=Resources(3000, 4 * GIB, 2)).capacity.headroom
    assert headroom == NOTHING


def test_only_nodes_of_the_queue_that_are_in_service_count() -> None:
    assert looked(Queue("vision", nodes=("b",))).fit_now(ONE_CARD) == 0
    assert looked(Queue("vision", nodes=("nowhere",))).capacity.milli_cpus == Stock(0, 0, 0)
    drained = (Node("a", 8000, 32 * GIB, CARDS, is_schedulable=False),)
    assert survey(Queue("default"), drained, (), NOTHING).capacity.cards == ()


def test_cards_that_others_use_are_there_but_not_free() -> None:
    node = Node("a", 8000, 32 * GIB, (Gpu(0, "A100", in_use_by_others=True), Gpu(1, "A100")))
    found = survey(Queue("default"), (node,), (), NOTHING)
    assert found.capacity.cards == (Cards("A100", Stock(1, 2, 2)),)
    assert (found.fit_now(ONE_CARD), found.fit_at_most(ONE_CARD)) == (1, 2)


def test_a_size_of_nothing_is_not_counted_for_ever() -> None:
    assert looked().fit_now(RoleShape("", 1, NOTHING)) == MOST_COUNTED
