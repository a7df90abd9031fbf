"""The ledger: what is free on every node, down to single GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from footplate.domain.cluster import Gpu, Node, Placement
from footplate.domain.resources import Resources
from footplate.scheduler.snapshot import RoleShape

Level = tuple[int, int, int]


class Room:
    """What is free on one node. Cards are bits of an integer, so that copies and overlaps cost nothing.

    `types` maps each type of card, in lower case, to the cards of that type, and "" to all of them;
    `last` marks cards to be handed out only when no others are left.
    """

    __slots__ = ("cards", "last", "memory_bytes", "milli_cpus", "node", "types", "usable")

    def __init__(self, node: Node, types: dict[str, int], usable: int) -> None:
        self.node = node
        self.types = types
        self.usable = usable
        self.milli_cpus = node.milli_cpus
        self.memory_bytes = node.memory_bytes
        self.cards = usable
        self.last = 0

    def copy(self) -> Room:
        other = Room(self.node, self.types, self.usable)
        other.milli_cpus, other.memory_bytes, other.cards = self.level
        return other

    def clipped(self, limit: Room) -> Room:
        """Copy this room, reduced to what is also free in another view of the same node."""
        other = Room(self.node, self.types, self.usable)
        other.milli_cpus = min(self.milli_cpus, limit.milli_cpus)
        other.memory_bytes = min(self.memory_bytes, limit.memory_bytes)
        other.cards = self.cards & limit.cards
        return other

    @property
    def level(self) -> Level:
        return self.milli_cpus, self.memory_bytes, self.cards

    def restore(self, level: Level) -> None:
        self.milli_cpus, self.memory_bytes, self.cards = level

    def cards_for(self, role: RoleShape) -> int:
        return self.cards & self.types.get(role.gpu_type.lower(), 0)

    def free(self, role: RoleShape) -> Resources:
        """Say what is free here of the kind that a role asks for."""
        return Resources(max(self.milli_cpus, 0), max(self.memory_bytes, 0), self.cards_for(role).bit_count())

    def holds(self, role: RoleShape, most: int) -> int:
        """Say how many tasks of a role find room here, up to `most`."""
        if role.avoids and self.node.name in role.avoids:
            return 0
        need = role.resources
        n = most
        if need.gpus:
            n = min(n, self.cards_for(role).bit_count() // need.gpus)
        if need.milli_cpus:
            n = min(n, self.milli_cpus // need.milli_cpus)
        if need.memory_bytes:
            n = min(n, self.memory_bytes // need.memory_bytes)
        return max(n, 0)

    def take(self, role: RoleShape) -> int:
        """Occupy the room of one task and return the cards it got."""
        need = role.resources
        taken = self._choose(self.cards_for(role), need.gpus) if need.gpus else 0
        self.occupy(need, taken)
        return taken

    def occupy(self, amount: Resources, cards: int) -> None:
        self.milli_cpus -= amount.milli_cpus
        self.memory_bytes -= amount.memory_bytes
        self.cards &= ~cards

    def vacate(self, amount: Resources, cards: int) -> None:
        self.milli_cpus += amount.milli_cpus
        self.memory_bytes += amount.memory_bytes
        self.cards |= cards & self.usable

    def _choose(self, candidates: int, n: int) -> int:
        # One task's cards should be alike, and of the type of which just enough are left.
        groups = [candidates & mask for mask in self.types.values()]
        group = min((group for group in groups if group.bit_count() >= n), key=int.bit_count)
        chosen = 0
        for _ in range(n):
            left = group & ~self.last or group
            lowest = left & -left
            chosen |= lowest
            group ^= lowest
        return chosen


class Ledger:
    """The rooms of all nodes, by engine, in the order of their names."""

    __slots__ = ("rooms",)

    def __init__(self, rooms: Iterable[Room]) -> None:
        self.rooms = {room.node.name: room for room in rooms}

    @classmethod
    def of(cls, nodes: Iterable[Node], *, with_others: bool = False) -> Ledger:
        """Open the books of nodes without jobs; cards that others use count as free only when asked to.

        Engines come in the order in which their nodes do: the first is tried first.
        """
        found = list(nodes)
        order = {engine: n for n, engine in enumerate(dict.fromkeys(node.engine for node in found))}
        ordered = sorted(found, key=lambda node: (order[node.engine], node.name))
        return cls(_empty_room(node, with_others) for node in ordered)

    def __iter__(self) -> Iterator[Room]:
        return iter(self.rooms.values())

    def copy(self) -> Ledger:
        return Ledger(room.copy() for room in self)

    def among(self, names: Sequence[str] = (), engine: str = "") -> list[Room]:
        """List the rooms of some nodes, or of some engine's nodes; of all when none is named."""
        rooms = list(self.rooms.values())
        if names:
            wanted = set(names)
            rooms = [room for name, room in self.rooms.items() if name in wanted]
        return [room for room in rooms if room.node.engine == engine] if engine else rooms

    def take(self, placement: Placement) -> None:
        for task in placement.tasks:
            if room := self.rooms.get(task.node):
                room.occupy(task.resources, card_bits(task.gpus))

    def give_back(self, placement: Placement) -> None:
        for task in placement.tasks:
            if room := self.rooms.get(task.node):
                room.vacate(task.resources, card_bits(task.gpus))


def card_bits(indices: Iterable[int]) -> int:
    bits = 0
    for index in indices:
        bits |= 1 << index
    return bits


def card_indices(bits: int) -> tuple[int, ...]:
    indices = []
    while bits:
        lowest = bits & -bits
        indices.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(indices)


def _empty_room(node: Node, with_others: bool) -> Room:
    usable = [gpu.index for gpu in node.gpus if with_others or not gpu.in_use_by_others]
    return Room(node, _cards_by_type(node.gpus), card_bits(usable))


def _cards_by_type(gpus: Iterable[Gpu]) -> dict[str, int]:
    types = {"": 0}
    for gpu in gpus:
        kind = gpu.type.lower()
        if kind:
            types[kind] = types.get(kind, 0) | 1 << gpu.index
        types[""] |= 1 << gpu.index
    return types
