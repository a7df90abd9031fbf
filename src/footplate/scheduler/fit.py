"""Whether a gang could start if every machine were empty, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from footplate.domain.cluster import EngineState, Node, Queue
from footplate.domain.messages import Message, say
from footplate.domain.messages.message import Params
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
    of,
)
from footplate.scheduler.snapshot import RoleShape, Shape


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a gang does not fit on empty machines, in words and numbers."""

    said: Message
    facts: dict[str, Any]


def can_ever_fit(
    shape: Shape, nodes: Sequence[Node], queue: Queue, engines: Sequence[EngineState] = ()
) -> Reason | None:
    """Say why a gang can never start, however empty the machines; None when it can.

    Nodes out of service count, since they may come back. Without any node nothing can be said, nor while an
    engine is away that may have others, nor of one that places by itself.
    """
    misfit = over_maximum(total_of(shape), queue)
    if misfit is None and not any(_may_have_more(engine, queue) for engine in engines):
        rooms = Ledger.of(nodes, with_others=True).among(queue.nodes, queue.engine)
        whose = {"queue": queue.name} if queue.nodes or queue.engine else {}
        misfit = misfit_on_empty(shape, rooms, whose) if rooms else None
    return None if misfit is None else Reason(ReasonCode.NEVER_FITS, misfit.said, misfit.facts)


def _may_have_more(engine: EngineState, queue: Queue) -> bool:
    """Tell whether an engine may have room that nobody here knows of."""
    if queue.engine and queue.engine != engine.name:
        return False
    return engine.away is not None or (engine.places_itself and bool(queue.engine))


def over_maximum(asked: Resources, queue: Queue) -> Misfit | None:
    """Say how a gang exceeds what its queue may use in all."""
    maximum = queue.maximum
    if maximum is None or asked.fits_in(maximum):
        return None
    dimension = next(d for d in DIMENSIONS if of(d, asked) > of(d, maximum))
    said = say(
        "over_queue_maximum",
        asked=amount(dimension, of(dimension, asked)),
        queue=queue.name,
        most=amount(dimension, of(dimension, maximum)),
    )
    return Misfit(said, {"needed": as_json(asked), "maximum": as_json(maximum)})


def misfit_on_empty(shape: Shape, rooms: Sequence[Room], whose: Params) -> Misfit | None:
    """Say why a gang does not fit on nodes that are empty.

    `whose` are parameters that say which nodes are meant: those of a `queue`, or only those in `service`.
    """
    if fits(shape, rooms):
        return None
    for role in shape:
        if misfit := _misfit_of_role(role, rooms, whose, is_one_of_many=len(shape) > 1):
            return misfit
    n_tasks, asked = sum(role.count for role in shape), as_json(total_of(shape))
    said = say("roles_too_much", asked=asked, tasks=n_tasks, n_roles=len(shape), **whose)
    return Misfit(said, {"needed": asked})


def _misfit_of_role(
    role: RoleShape, rooms: Sequence[Room], whose: Params, is_one_of_many: bool
) -> Misfit | None:
    need = role.resources
    facts: dict[str, Any] = {"needed": as_json(need), "role": role.role, "tasks": role.count}
    whose = {**whose, "of_role": role.role if is_one_of_many else None}
    for dimension in DIMENSIONS:
        largest = max((of(dimension, room.free(role)) for room in rooms), default=0)
        if of(dimension, need) > largest:
            if dimension == "gpus" and role.gpu_type:
                facts |= {"gpu_type": role.gpu_type, "gpu_types": _types_of(rooms)}
            said = _too_much(dimension, role, largest, rooms, whose)
            return Misfit(said, {**facts, "largest": {dimension: largest}})
    n_fit = sum(room.holds(role, role.count) for room in rooms)
    if n_fit == 0:
        return Misfit(say("no_node_has_all", asked=amounts(role), **whose), facts)
    if n_fit < role.count:
        said = say("too_many_for_nodes", n_tasks=role.count, asked=amounts(role), n_fit=n_fit, **whose)
        return Misfit(said, {**facts, "tasks_that_fit": n_fit})
    return None


def _too_much(
    dimension: Dimension, role: RoleShape, largest: int, rooms: Sequence[Room], whose: Params
) -> Message:
    asked = amount(dimension, of(dimension, role.resources), role)
    if dimension == "gpus" and not largest:
        if not role.gpu_type:
            return say("no_gpus", asked=asked, **whose)
        return say("no_gpu_of_type", asked=asked, types=_types_of(rooms), **whose)
    return say("too_much_for_node", asked=asked, most=amount(dimension, largest), **whose)


def _types_of(rooms: Sequence[Room]) -> list[str]:
    return sorted({gpu.type for room in rooms for gpu in room.node.gpus if gpu.type})
