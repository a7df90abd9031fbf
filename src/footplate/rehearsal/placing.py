"""Where the tasks of a rehearsed job are: nodes that this machine stands in for, its cards, free ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.errors import InvalidInput
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.strategies.registry import problems
from footplate.scheduler.ports import PortLedger, PortRoom, port_needs

LOOPBACK = "127.0.0.1"


def node_name(number: int) -> str:
    return f"local-{number}"


def require_runnable(spec: JobSpec) -> None:
    """Refuse what the platform would refuse for the sake of its strategy."""
    if found := problems(spec):
        raise InvalidInput(found)


def place(spec: JobSpec, n_nodes: int, cards: Sequence[int], busy_ports: frozenset[int]) -> Placement:
    """Spread tasks evenly over nodes, in the order of their ranks, as the platform packs a gang.

    Cards are given out as far as there are enough for all tasks; else no task has any. Ports are different on
    all nodes: they are ports of one machine.
    """
    if n_nodes > spec.n_tasks:
        raise InvalidInput("more_nodes_than_tasks", n_nodes=n_nodes, n_tasks=spec.n_tasks)
    left = list(cards) if has_cards_for(spec, cards) else []
    tasks: list[TaskPlacement] = []
    for role in spec.roles:
        for index in range(role.count):
            own, left = (left[: role.gpus], left[role.gpus :]) if left else ([], [])
            tasks.append(_task(role, index, tuple(own)))
    # The ledger keeps ports of nodes apart: as if of one node, so that none is given twice.
    placed = PortLedger(PortRoom(busy={"": busy_ports}), ()).give(port_needs(spec), Placement(tuple(tasks)))
    if placed is None:
        raise InvalidInput("no_ports_here")
    return Placement(
        tuple(_on_node(task, rank, n_nodes, len(tasks)) for rank, task in enumerate(placed.tasks))
    )


def has_cards_for(spec: JobSpec, cards: Sequence[int]) -> bool:
    return len(cards) >= spec.resources.gpus


def _task(role: RoleSpec, index: int, cards: tuple[int, ...]) -> TaskPlacement:
    return TaskPlacement(role.name, index, "", role.resources, cards, address=LOOPBACK)


def _on_node(task: TaskPlacement, rank: int, n_nodes: int, n_tasks: int) -> TaskPlacement:
    return replace(task, node=node_name(rank * n_nodes // n_tasks))
