"""What a gang lacks at the moment, in words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from footplate.domain.resources import MIB, Resources, total
from footplate.scheduler.ledger import Room
from footplate.scheduler.pack import fits, total_of
from footplate.scheduler.phrases import (
    DIMENSIONS,
    Dimension,
    amount,
    amounts,
    as_json,
    counted,
    figure,
    free_of,
    listed,
    of,
    of_type,
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


def describe(shape: Shape, shortage: Shortage, rooms: Sequence[Room]) -> str:
    """Write what is needed and what is free."""
    role, dimension = shortage.role, shortage.dimension
    if dimension is None:
        return _describe_mix(shape, rooms)
    need = _needed(shape, role, dimension)
    free = of(dimension, _free(role, rooms))
    capacity = of(dimension, total(_capacity(role, room) for room in rooms))
    kind = of_type(role) if dimension == "gpus" else ""
    has_enough = free >= need
    where = "on one node" if has_enough and _n_tasks(shape) == 1 else "at once"
    return (
        f"needs {amount(dimension, need)}{kind} {where}{_in_tasks(shape, dimension)}; "
        f"{free_of(dimension, free, capacity)}{_but(shortage, rooms) if has_enough else ''}"
        f"{_by_node(role, dimension, rooms)}{_used_by_others(role, dimension, rooms)}"
    )


def _n_tasks(shape: Shape) -> int:
    return sum(role.count for role in shape)


def _in_tasks(shape: Shape, dimension: Dimension) -> str:
    n = _n_tasks(shape)
    if n == 1:
        return ""
    if len(shape) > 1:
        return f" ({n} tasks in {len(shape)} roles)"
    return f" ({n} tasks of {amount(dimension, of(dimension, shape[0].resources))} each)"


def _but(shortage: Shortage, rooms: Sequence[Room]) -> str:
    role, dimension = shortage.role, shortage.dimension
    if dimension is None:
        return ""
    if role.count > 1:
        return f", in pieces that hold {_n_fitting(role, dimension, rooms)} of {role.count} tasks"
    most = max(of(dimension, room.free(role)) for room in rooms)
    return f", at most {figure(dimension, most)} on one node"


def _by_node(role: RoleShape, dimension: Dimension, rooms: Sequence[Room]) -> str:
    if len(rooms) < 2:
        return ""
    free = [(of(dimension, room.free(role)), room.node.name) for room in rooms]
    free = [(n, name) for n, name in free if n]
    if not free:
        return ""
    free.sort(key=lambda entry: (-entry[0], entry[1]))
    named = sorted(free[:_N_NODES_NAMED], key=lambda entry: entry[1])
    words = [f"node {name}: {figure(dimension, n)} free" for n, name in named]
    if len(free) > len(named):
        words.append(f"{len(free) - len(named)} more with less")
    return f" ({', '.join(words)})"


def _used_by_others(role: RoleShape, dimension: Dimension, rooms: Sequence[Room]) -> str:
    n = n_used_by_others(role, rooms) if dimension == "gpus" else 0
    return f", {n} {'is' if n == 1 else 'are'} in use by others" if n else ""


def n_used_by_others(role: RoleShape, rooms: Sequence[Room]) -> int:
    return sum((room.types.get(role.gpu_type.lower(), 0) & ~room.usable).bit_count() for room in rooms)


def _describe_mix(shape: Shape, rooms: Sequence[Room]) -> str:
    role = shape[0]
    if len(shape) > 1:
        asked, names = amounts(total_of(shape)), listed([role.role for role in shape])
        return f"needs {asked} at once for the roles {names}; not all of them find room together"
    asked = amounts(role.resources)
    if role.count == 1:
        return f"needs {asked} on one node; no node has all of that free together"
    n_fit = sum(room.holds(role, role.count) for room in rooms)
    return f"needs {role.count} tasks of {asked} each at once; there is room for {n_fit}"


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


def smaller_ask(shape: Shape, shortage: Shortage, rooms: Sequence[Room]) -> tuple[str, dict[str, Any]]:
    """Find what the job could ask for to start now: smaller tasks of one role, or fewer of them."""
    for at in sorted(range(len(shape)), key=lambda at: shape[at] is not shortage.role):
        found, words = _smaller_role(shape, at, shortage.dimension, rooms)
        if found and len(shape) > 1:
            words = [f"{asked} in role {shape[at].role}" for asked in words]
            found["role"] = shape[at].role
        if found:
            return f"would start now with {' or '.join(words)}", found
    return "", {}


def _smaller_role(
    shape: Shape, at: int, dimension: Dimension | None, rooms: Sequence[Room]
) -> tuple[dict[str, Any], list[str]]:
    role = shape[at]
    found: dict[str, Any] = {}
    words = []
    if dimension and (n := _largest_task(shape, at, dimension, rooms)):
        found[_PER_TASK[dimension]] = n
        words.append(amount(dimension, n) + (" each" if role.count > 1 else ""))
    if n_fit := _most_tasks(shape, at, rooms):
        found["tasks"] = n_fit
        words.append(counted(n_fit, "task"))
    return found, words


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
