"""What is free where the jobs of a queue may run: for people who are about to choose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from footplate.domain.capacity import Capacity, Cards, Stock
from footplate.domain.cluster import Node, Placement, Queue
from footplate.domain.resources import UNLIMITED, Resources
from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.phrases import DIMENSIONS, of
from footplate.scheduler.snapshot import RoleShape

# Nobody reads a longer count, and a task that asks for nothing would fit for ever.
MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Survey:
    """The nodes of a queue: what is free there in sum, and how many tasks of a size find room."""

    capacity: Capacity
    maximum: Resources | None
    rooms: tuple[Room, ...]
    empty: tuple[Room, ...]

    def fit_now(self, role: RoleShape) -> int:
        """Count the tasks of a size that find room now, if nobody is ahead."""
        return _count(role, self.rooms, self.capacity.headroom)

    def fit_at_most(self, role: RoleShape) -> int:
        """Count the tasks of a size that find room when nothing else runs."""
        return _count(role, self.empty, self.maximum)


def survey(queue: Queue, nodes: Iterable[Node], held: Iterable[Placement], used: Resources) -> Survey:
    """Look at the nodes of a queue that are in service, given what all jobs hold, and what its own use."""
    serving = [node for node in nodes if node.is_schedulable]
    ledger, unused = Ledger.of(serving), Ledger.of(serving, with_others=True)
    for placement in held:
        ledger.take(placement)
    rooms, empty = (one.among(queue.nodes, queue.engine) for one in (ledger, unused))
    capacity = Capacity(
        _stock(rooms, empty, "milli_cpus"),
        _stock(rooms, empty, "memory_bytes"),
        tuple(Cards(kind, _cards(rooms, empty, kind)) for kind in _types(rooms)),
        None if queue.maximum is None else _left(queue.maximum, used),
    )
    return Survey(capacity, queue.maximum, tuple(rooms), tuple(empty))


def _left(maximum: Resources, used: Resources) -> Resources:
    """Subtract what is used; what has no limit still has none."""

    def left(most: int, taken: int) -> int:
        return most if most >= UNLIMITED else max(most - taken, 0)

    return Resources(
        left(maximum.milli_cpus, used.milli_cpus),
        left(maximum.memory_bytes, used.memory_bytes),
        left(maximum.gpus, used.gpus),
    )


def _stock(rooms: Sequence[Room], empty: Sequence[Room], name: str) -> Stock:
    there = [getattr(room, name) for room in empty]
    free = sum(max(getattr(room, name), 0) for room in rooms)
    return Stock(free, sum(there), max(there, default=0))


def _types(rooms: Iterable[Room]) -> list[str]:
    return sorted({gpu.type for room in rooms for gpu in room.node.gpus})


def _cards(rooms: Sequence[Room], empty: Sequence[Room], kind: str) -> Stock:
    free = sum(_mask(room, kind).bit_count() for room in rooms)
    there = [_mask(room, kind).bit_count() for room in empty]
    return Stock(free, sum(there), max(there, default=0))


def _mask(room: Room, kind: str) -> int:
    of_kind = sum(1 << gpu.index for gpu in room.node.gpus if gpu.type == kind)
    return room.cards & of_kind


def _count(role: RoleShape, rooms: Iterable[Room], headroom: Resources | None) -> int:
    most = MOST_COUNTED if headroom is None else _times(role.resources, headroom)
    return min(most, sum(room.holds(role, most) for room in rooms))


def _times(need: Resources, room: Resources) -> int:
    """Count how often an amount fits into another."""
    asked = [(of(name, room), of(name, need)) for name in DIMENSIONS if of(name, need)]
    return min((there // one for there, one in asked), default=MOST_COUNTED)
