"""Where the tasks of a gang go."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.cluster import Node, Placement
from footplate.scheduler.ledger import Ledger
from footplate.scheduler.pack import fits, pack
from footplate.scheduler.snapshot import RoleShape, RunningJob
from footplate.testing.scheduling import node, role, running


def place(*roles: RoleShape, on: Iterable[Node], beside: Iterable[RunningJob] = ()) -> Placement | None:
    ledger = Ledger.of(on)
    for job in beside:
        ledger.take(job.placement)
    before = [room.level for room in ledger]
    placement = pack(roles, ledger.among(()))
    assert [room.level for room in ledger] == before
    assert fits(roles, ledger.among(())) == (placement is not None)
    return placement


def nodes_of(placement: Placement | None) -> list[str]:
    assert placement is not None
    return [task.node for task in placement.tasks]


def cards_of(placement: Placement | None) -> list[tuple[int, ...]]:
    assert placement is not None
    return [task.gpus for task in placement.tasks]


def test_a_task_gets_its_cards_and_the_address_of_its_node() -> None:
    placement = place(role(gpus=2, cpus=4), on=[node("a", gpus=8)], beside=[running(cards=[0, 2])])
    assert placement is not None
    (task,) = placement.tasks
    assert (task.role, task.index, task.node, task.gpus, task.address) == (
        "main",
        0,
        "a",
        (1, 3),
        "a.example",
    )
    assert task.resources == role(gpus=2, cpus=4).resources
    assert task.ports == ()


def test_tasks_follow_the_order_of_roles_and_indices() -> None:
    placement = place(role("ps", count=2), role("worker", count=2, gpus=4), on=[node(gpus=8)])
    assert placement is not None
    names = [(task.role, task.index) for task in placement.tasks]
    assert names == [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]


def test_a_gang_that_does_not_fit_whole_is_not_placed() -> None:
    assert place(role(count=3, gpus=4), on=[node("a", gpus=8), node("b", gpus=3)]) is None


def test_cpu_and_memory_and_cards_must_be_free_on_the_same_node() -> None:
    split = [node("a", gpus=8, cpus=1), node("b", gpus=0, cpus=64)]
    assert place(role(gpus=1, cpus=8), on=split) is None
    assert place(role(memory_gb=600), on=[node(memory_gb=512)]) is None


def test_a_gpu_job_goes_where_the_fewest_cards_stay_free() -> None:
    nodes = [node("big", gpus=8), node("small", gpus=4)]
    assert nodes_of(place(role(gpus=2), on=nodes)) == ["small"]
    assert nodes_of(place(role(gpus=2), on=nodes, beside=[running(on="big", cards=range(6))])) == ["big"]


def test_a_job_without_gpus_goes_to_a_node_without_gpus() -> None:
    nodes = [node("gpus", gpus=8, cpus=4), node("plain", cpus=64)]
    assert nodes_of(place(role(cpus=4), on=nodes)) == ["plain"]


def test_a_gang_without_gpus_spreads_over_plain_nodes_rather_than_take_a_node_with_gpus() -> None:
    nodes = [node("gpus", gpus=8, cpus=64), node("p1", cpus=2), node("p2", cpus=2)]
    assert nodes_of(place(role(count=4), on=nodes)) == ["p1", "p1", "p2", "p2"]


def test_a_job_without_gpus_takes_a_node_with_gpus_when_no_other_has_room() -> None:
    assert nodes_of(place(role(cpus=8), on=[node("gpus", gpus=8), node("plain", cpus=4)])) == ["gpus"]


def test_a_gang_uses_as_few_nodes_as_possible() -> None:
    nodes = [node("a", gpus=2), node("b", gpus=3), node("c", gpus=8), node("d", gpus=4)]
    assert set(nodes_of(place(role(count=4, gpus=1), on=nodes))) == {"d"}
    assert nodes_of(place(role(count=10, gpus=1), on=nodes)) == ["c"] * 8 + ["a"] * 2


def test_roles_of_one_gang_share_a_node_when_one_takes_them_all() -> None:
    nodes = [node("a", cpus=64), node("b", gpus=4, cpus=8), node("c", gpus=8, cpus=8)]
    placement = place(role("ps", cpus=2), role("worker", count=2, gpus=2, cpus=2), on=nodes)
    assert set(nodes_of(placement)) == {"b"}


def test_several_roles_find_room_on_different_nodes() -> None:
    nodes = [node("a", gpus=1, cpus=4), node("b", cpus=8)]
    placement = place(role("chief", gpus=1, cpus=4), role("worker", count=2, cpus=4), on=nodes)
    assert nodes_of(placement) == ["a", "b", "b"]


def test_a_role_that_must_have_a_type_is_placed_before_one_that_may_take_any() -> None:
    nodes = [node("a", gpu_type=["A100", "T4"])]
    placement = place(role("any", gpus=1), role("picky", gpus=1, gpu_type="t4"), on=nodes)
    assert cards_of(placement) == [(0,), (1,)]


def test_the_type_of_a_card_is_matched_card_by_card_and_whatever_the_case() -> None:
    mixed = node("a", gpu_type=["A100", "T4", "A100", "T4"])
    assert cards_of(place(role(gpus=2, gpu_type="t4"), on=[mixed])) == [(1, 3)]
    assert place(role(gpus=3, gpu_type="T4"), on=[mixed]) is None
    assert place(role(gpus=1, gpu_type="H100"), on=[mixed]) is None


def test_one_task_gets_cards_of_one_type_and_leaves_the_bigger_group_whole() -> None:
    mixed = node("a", gpu_type=["A100", "T4", "A100", "T4", "A100"])
    assert cards_of(place(role(gpus=2), on=[mixed])) == [(1, 3)]
    assert cards_of(place(role(gpus=4), on=[mixed])) == [(0, 1, 2, 3)]


def test_cards_in_use_by_others_are_avoided() -> None:
    assert cards_of(place(role(gpus=1), on=[node(gpus=3, in_use_by_others=[0, 2])])) == [(1,)]
    assert place(role(gpus=2), on=[node(gpus=3, in_use_by_others=[0, 2])]) is None


def test_a_node_that_is_overdrawn_takes_nothing_more() -> None:
    assert place(role(cpus=0, memory_gb=1), on=[node(memory_gb=4)], beside=[running(memory_gb=8)]) is None


def test_tasks_that_ask_for_nothing_fit_on_a_full_node() -> None:
    full = running(cpus=64, memory_gb=512)
    assert nodes_of(place(role(cpus=0, count=3), on=[node()], beside=[full])) == ["a"] * 3


def test_the_choice_does_not_depend_on_the_order_of_nodes() -> None:
    nodes = [node(name, gpus=4) for name in "dacb"]
    assert nodes_of(place(role(gpus=2), on=nodes)) == ["a"]
