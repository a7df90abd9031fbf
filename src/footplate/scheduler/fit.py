"""Whether a gang could start if every machine were empty, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from footplate.domain.cluster import Node, Queue
from footplate.domain.resources import Resources
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.pack import fits, total_of
from footplate.scheduler.phrases import (
    DIMENSIONS,
    Dimension,
    amount,
    amounts,
    as_json,
    counted,
    figure,
    listed,
    of,
    of_type,
)
from footplate.scheduler.snapshot import RoleShape, Shape


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a gang does not fit on empty machines, in words and numbers."""

    message: str
    details: dict[str, Any]


def can_ever_fit(shape: Shape, nodes: Sequence[Node], queue: Queue) -> Reason | None:
    """Say why a gang can never start, however empty the machines; None when it can.

    Nodes out of service count, since they may come back. Without any node nothing can be said.
    """
    misfit = over_maximum(total_of(shape), queue)
    if misfit is None:
        eligible = [node for node in nodes if not queue.nodes or node.name in queue.nodes]
        rooms = Ledger.of(eligible, with_others=True).among(())
        whose = f" of queue {queue.name}" if queue.nodes else ""
        misfit = misfit_on_empty(shape, rooms, whose) if rooms else None
    if misfit is None:
        return None
    own = {"queue": queue.name} if queue.nodes else {}
    return Reason(ReasonCode.NEVER_FITS, misfit.message, {**misfit.details, **own})


def over_maximum(asked: Resources, queue: Queue) -> Misfit | None:
    """Say how a gang exceeds what its queue may use in all."""
    maximum = queue.maximum
    if maximum is None or asked.fits_in(maximum):
        return None
    details = {"needed": as_json(asked), "maximum": as_json(maximum), "queue": queue.name}
    dimension = next(d for d in DIMENSIONS if of(d, asked) > of(d, maximum))
    most = figure(dimension, of(dimension, maximum))
    message = f"asks for {amount(dimension, of(dimension, asked))}; queue {queue.name} may use at most {most}"
    return Misfit(message, details)


def misfit_on_empty(shape: Shape, rooms: Sequence[Room], whose: str = "") -> Misfit | None:
    """Say why a gang does not fit on nodes that are empty; `whose` says which nodes are meant."""
    if fits(shape, rooms):
        return None
    for role in shape:
        if misfit := _misfit_of_role(
            role, rooms, whose, f"role {role.role} asks" if len(shape) > 1 else "asks"
        ):
            return misfit
    n_tasks = sum(role.count for role in shape)
    asked = total_of(shape)
    message = (
        f"asks for {amounts(asked)} at once ({counted(n_tasks, 'task')} in {len(shape)} roles); "
        f"the nodes{whose} cannot take all together"
    )
    return Misfit(message, {"needed": as_json(asked), "tasks": n_tasks, "n_roles": len(shape)})


def _misfit_of_role(role: RoleShape, rooms: Sequence[Room], whose: str, asks: str) -> Misfit | None:
    need = role.resources
    details: dict[str, Any] = {"needed": as_json(need), "role": role.role, "tasks": role.count}
    for dimension in DIMENSIONS:
        largest = max((of(dimension, room.free(role)) for room in rooms), default=0)
        if of(dimension, need) > largest:
            message = f"{asks} for {_too_much(dimension, role, largest, rooms, whose)}"
            if dimension == "gpus" and role.gpu_type:
                details |= {"gpu_type": role.gpu_type, "gpu_types": _types_of(rooms)}
            return Misfit(message, {**details, "largest": {dimension: largest}})
    n_fit = sum(room.holds(role, role.count) for room in rooms)
    if n_fit == 0:
        return Misfit(f"{asks} for {amounts(need)} in one task; no node{whose} has all of that", details)
    if n_fit < role.count:
        message = (
            f"{asks} for {counted(role.count, 'task')} of {amounts(need)}{of_type(role)} each at once; "
            f"the nodes{whose} have room for {n_fit}"
        )
        return Misfit(message, {**details, "tasks_that_fit": n_fit})
    return None


def _too_much(dimension: Dimension, role: RoleShape, largest: int, rooms: Sequence[Room], whose: str) -> str:
    asked = amount(dimension, of(dimension, role.resources))
    if dimension == "gpus":
        asked += of_type(role)
        if not largest and role.gpu_type:
            return f"{asked}; the nodes{whose} have {_types_there(rooms)}"
        if not largest:
            return f"{asked}; no node{whose} has GPUs"
    return f"{asked} in one task; the largest node{whose} has {figure(dimension, largest)}"


def _types_of(rooms: Sequence[Room]) -> list[str]:
    return sorted({gpu.type for room in rooms for gpu in room.node.gpus if gpu.type})


def _types_there(rooms: Sequence[Room]) -> str:
    types = _types_of(rooms)
    return f"GPUs of type {listed(types)}" if types else "none of that type"
