"""What a gang lacks at the moment, in words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from footplate.domain.messages import Message, say
from footplate.domain.resources import MIB, Resources, total
from footplate.scheduler.ledger import Room
from footplate.scheduler.pack import fits, total_of
from footplate.scheduler.phrases import (
    DIMENSIONS,
    Dimension,
    amount,
    amounts,
    as_json,
    of,
)
from footplate.scheduler.snapshot import RoleShape, Shape

_N_NODES_NAMED = 4
_STEP: dict[Dimension, int] = {"gpus": 1, "milli_cpus": 100, "memory_bytes": 256 * MIB}
_PER_TASK: dict[Dimension, str] = {
    "gpus": "gpus_per_task",
    "milli_cpus": "milli_cpus_per_task",
    "memory_bytes": "memory_bytes_per_task",
}


@dataclass(frozen=True, slots=True)
class Shortage:
    """The role and the resource that are furthest from fitting; no resource when only the mix is at fault."""

    role: RoleShape
    dimension: Dimension | None


def find_shortage(shape: Shape, rooms: Sequence[Room]) -> Shortage:
    """Find which resource a gang that does not fit lacks most."""
    ratios = [
        (_n_fitting(role, dimension, rooms) / role.count, at, rank)
        for at, role in enumerate(shape)
        for rank, dimension in enumerate(DIMENSIONS)
        if role.count and of(dimension, role.resources)
    ]
    ratio, at, rank = min(ratios, default=(1, 0, 0))
    if ratio < 1:
        return Shortage(shape[at], DIMENSIONS[rank])
    for dimension in DIMENSIONS:
        hardest = max(shape, key=lambda role: of(dimension, role.resources))
        if _needed(shape, hardest, dimension) > of(dimension, _free(hardest, rooms)):
            return Shortage(hardest, dimension)
    return Shortage(shape[0], None)


def _n_fitting(role: RoleShape, dimension: Dimension, rooms: Sequence[Room]) -> int:
    """Count the tasks that would fit if only one resource mattered."""
    need = of(dimension, role.resources)
    return min(sum(of(dimension, room.free(role)) // need for room in rooms), role.count)


def _needed(shape: Shape, role: RoleShape, dimension: Dimension) -> int:
    alike = [r for r in shape if dimension != "gpus" or r.gpu_type.lower() == role.gpu_type.lower()]
    return of(dimension, total_of(tuple(alike)))


def _free(role: RoleShape, rooms: Sequence[Room]) -> Resources:
    return total(room.free(role) for room in rooms)


def _capacity(role: RoleShape, room: Room) -> Resources:
    cards = room.types.get(role.gpu_type.lower(), 0)
    return replace(room.node.capacity, gpus=cards.bit_count())


def describe(shape: Shape, shortage: Shortage, rooms: Sequence[Room]) -> Message:
    """Say what is needed and what is free."""
    role, dimension = shortage.role, shortage.dimension
    if dimension is None:
        return _describe_mix(shape, rooms)
    need = _needed(shape, role, dimension)
    free = of(dimension, _free(role, rooms))
    capacity = of(dimension, total(_capacity(role, room) for room in rooms))
    has_enough = free >= need
    n_others = n_used_by_others(role, rooms) if dimension == "gpus" else 0
    return say(
        "short_of",
        asked=amount(dimension, need, role),
        where="one_node" if has_enough and _n_tasks(shape) == 1 else "at_once",
        gang=_in_tasks(shape, dimension),
        free_now=amount(dimension, free),
        of_all=amount(dimension, capacity),
        but=_but(role, dimension, rooms) if has_enough else None,
        on_nodes=_by_node(role, dimension, rooms),
        n_others=n_others or None,
    )


def _n_tasks(shape: Shape) -> int:
    return sum(role.count for role in shape)


def _in_tasks(shape: Shape, dimension: Dimension) -> Message | None:
    n = _n_tasks(shape)
    if n == 1:
        return None
    if len(shape) > 1:
        return say("tasks_in_roles", n_tasks=n, n_roles=len(shape))
    return say("tasks_of_each", n_tasks=n, each=amount(dimension, of(dimension, shape[0].resources)))


def _but(role: RoleShape, dimension: Dimension, rooms: Sequence[Room]) -> Message:
    if role.count > 1:
        return say("free_in_pieces", n_fit=_n_fitting(role, dimension, rooms), n_tasks=role.count)
    most = max(of(dimension, room.free(role)) for room in rooms)
    return say("free_on_one_node", most=amount(dimension, most))


def _by_node(role: RoleShape, dimension: Dimension, rooms: Sequence[Room]) -> list[Message]:
    """Name the nodes with the most room, where there are several."""
    free = [(of(dimension, room.free(role)), room.node.name) for room in rooms if len(rooms) > 1]
    free = sorted(((n, name) for n, name in free if n), key=lambda entry: (-entry[0], entry[1]))
    named = sorted(free[:_N_NODES_NAMED], key=lambda entry: entry[1])
    words = [say("node_free", node=name, free_there=amount(dimension, n)) for n, name in named]
    return [*words, say("more_with_less", n=len(free) - len(named))] if len(free) > len(named) else words


def n_used_by_others(role: RoleShape, rooms: Sequence[Room]) -> int:
    return sum((room.types.get(role.gpu_type.lower(), 0) & ~room.usable).bit_count() for room in rooms)


def _describe_mix(shape: Shape, rooms: Sequence[Room]) -> Message:
    role = shape[0]
    if len(shape) > 1:
        return say("roles_do_not_fit", asked=as_json(total_of(shape)), roles=[role.role for role in shape])
    if role.count == 1:
        return say("task_does_not_fit", asked=amounts(role))
    n_fit = sum(room.holds(role, role.count) for room in rooms)
    return say("tasks_do_not_fit", n_tasks=role.count, asked=amounts(role), n_fit=n_fit)


def numbers(shape: Shape, shortage: Shortage, rooms: Sequence[Room], n_nodes: int) -> dict[str, Any]:
    """Give the figures behind the words, node by node."""
    role = shortage.role
    details: dict[str, Any] = {
        "needed": {**as_json(total_of(shape)), "tasks": _n_tasks(shape)},
        "free": as_json(_free(role, rooms)),
        "capacity": as_json(total(_capacity(role, room) for room in rooms)),
        "short_of": shortage.dimension,
        "nodes": [_node_numbers(role, room) for room in sorted(rooms, key=_missing(role))[:n_nodes]],
        "n_nodes": len(rooms),
    }
    if role.gpu_type:
        details["gpu_type"] = role.gpu_type
    if n := n_used_by_others(role, rooms):
        details["gpus_in_use_by_others"] = n
    return details


def _missing(role: RoleShape) -> Callable[[Room], tuple[int | str, ...]]:
    """Rank nodes by what one more task would lack there, the nearest first."""

    def lack(room: Room) -> tuple[int | str, ...]:
        free = room.free(role)
        return (*(max(of(d, role.resources) - of(d, free), 0) for d in DIMENSIONS), room.node.name)

    return lack


def _node_numbers(role: RoleShape, room: Room) -> dict[str, Any]:
    free = room.free(role)
    lacking = {d: of(d, role.resources) - of(d, free) for d in DIMENSIONS}
    return {
        "node": room.node.name,
        "free": as_json(free),
        "short": {d: n for d, n in lacking.items() if n > 0},
        "tasks_that_fit": room.holds(role, role.count),
    }


def smaller_ask(
    shape: Shape, shortage: Shortage, rooms: Sequence[Room]
) -> tuple[Message | None, dict[str, Any]]:
    """Find what the job could ask for to start now: smaller tasks of one role, or fewer of them."""
    for at in sorted(range(len(shape)), key=lambda at: shape[at] is not shortage.role):
        found, asks = _smaller_role(shape, at, shortage.dimension, rooms)
        in_role = shape[at].role if len(shape) > 1 else None
        if found and in_role:
            found["role"] = in_role
        if found:
            other = asks[1] if len(asks) > 1 else None
            return say("would_start_with", ask=asks[0], other_ask=other, in_role=in_role), found
    return None, {}


def _smaller_role(
    shape: Shape, at: int, dimension: Dimension | None, rooms: Sequence[Room]
) -> tuple[dict[str, Any], list[Message]]:
    role = shape[at]
    found: dict[str, Any] = {}
    asks = []
    if dimension and (n := _largest_task(shape, at, dimension, rooms)):
        found[_PER_TASK[dimension]] = n
        asks.append(say("ask_each" if role.count > 1 else "ask", amount=amount(dimension, n)))
    if n_fit := _most_tasks(shape, at, rooms):
        found["tasks"] = n_fit
        asks.append(say("ask_tasks", n_tasks=n_fit))
    return found, asks


def _largest_task(shape: Shape, at: int, dimension: Dimension, rooms: Sequence[Room]) -> int:
    """How much of a resource each task of a role could have, all else as it is; 0 when that does not help."""
    role, step = shape[at], _STEP[dimension]

    def has_room(n: int) -> bool:
        return _fits_with(
            shape, at, replace(role, resources=_with(role.resources, dimension, n * step)), rooms
        )

    return _largest(has_room, -(-of(dimension, role.resources) // step)) * step


def _most_tasks(shape: Shape, at: int, rooms: Sequence[Room]) -> int:
    """How many tasks of a role would find room, all else as it is; 0 when fewer do not help."""
    role = shape[at]
    return _largest(lambda n: _fits_with(shape, at, replace(role, count=n), rooms), role.count)


def _fits_with(shape: Shape, at: int, role: RoleShape, rooms: Sequence[Room]) -> bool:
    return fits((*shape[:at], role, *shape[at + 1 :]), rooms)


def _largest(holds: Callable[[int], bool], below: int) -> int:
    low, high = 0, below
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _with(resources: Resources, dimension: Dimension, n: int) -> Resources:
    match dimension:
        case "gpus":
            return replace(resources, gpus=n)
        case "milli_cpus":
            return replace(resources, milli_cpus=n)
        case "memory_bytes":
            return replace(resources, memory_bytes=n)
