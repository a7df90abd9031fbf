"""Places a gang on the nodes: all of its tasks or none, on few nodes, with little fragmentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.resources import Resources, total
from footplate.scheduler.ledger import Level, Room, card_indices
from footplate.scheduler.snapshot import RoleShape, Shape

Tightness = Callable[[Room], tuple[int | str, ...]]


def total_of(shape: Shape) -> Resources:
    return total(role.resources * role.count for role in shape)


def fits(shape: Shape, rooms: Sequence[Room]) -> bool:
    """Tell whether a whole gang finds room, on the nodes of one engine."""
    if len(shape) != 1:
        return _lay_out(shape, rooms) is not None
    return any(_fits_in(shape, same) for same in _by_engine(rooms))


def _fits_in(shape: Shape, rooms: Sequence[Room]) -> bool:
    role = shape[0]
    left = role.count
    for room in rooms:
        left -= room.holds(role, left)
        if not left:
            return True
    return not left


def _by_engine(rooms: Sequence[Room]) -> list[Sequence[Room]]:
    """Part rooms by the engines of their nodes, which nearly always are of one."""
    # They come in the order of their engines.
    if not rooms or rooms[0].node.engine == rooms[-1].node.engine:
        return [rooms]
    parts: dict[str, list[Room]] = {}
    for room in rooms:
        parts.setdefault(room.node.engine, []).append(room)
    return list(parts.values())


def pack(shape: Shape, rooms: Sequence[Room]) -> Placement | None:
    """Choose a place for every task of a gang; the rooms are left as they were.

    One role finds a place whenever there is one. Several roles are laid out greedily in a few
    orders, so that a place which needs an unusual mix can be missed until more becomes free.
    """
    layout = _lay_out(shape, rooms)
    return None if layout is None else layout.placement(shape)


def open_placement(shape: Shape, engine: str) -> Placement:
    """Leave the nodes of a gang to an engine that places by itself."""
    tasks = (
        TaskPlacement(role.role, index, "", role.resources, address="")
        for role in shape
        for index in range(role.count)
    )
    return Placement(tuple(tasks), engine=engine)


class _Layout:
    """Places found so far, and the levels to which the rooms are set back afterwards."""

    def __init__(self, n_roles: int) -> None:
        self.places: list[list[tuple[Room, int]]] = [[] for _ in range(n_roles)]
        self.nodes: set[str] = set()
        self._levels: list[tuple[Room, Level]] = []

    def put(self, position: int, role: RoleShape, room: Room, n_tasks: int) -> None:
        self._levels.append((room, room.level))
        self.nodes.add(room.node.name)
        self.places[position].extend((room, room.take(role)) for _ in range(n_tasks))

    def set_back(self) -> None:
        for room, level in reversed(self._levels):
            room.restore(level)

    def placement(self, shape: Shape) -> Placement:
        tasks = tuple(
            _task(role, index, room, cards)
            for role, places in zip(shape, self.places, strict=True)
            for index, (room, cards) in enumerate(places)
        )
        return Placement(
            tasks, engine=next((places[0][0].node.engine for places in self.places if places), "")
        )


def _task(role: RoleShape, index: int, room: Room, cards: int) -> TaskPlacement:
    node = room.node
    gpus = card_indices(cards)
    return TaskPlacement(role.role, index, node.name, role.resources, gpus, address=node.address)


def _lay_out(shape: Shape, rooms: Sequence[Room]) -> _Layout | None:
    orders = _orders(shape)
    for choice in chain.from_iterable(_choices(shape, same) for same in _by_engine(rooms)):
        for positions in orders:
            layout = _Layout(len(shape))
            is_whole = all(_fill(layout, position, shape[position], choice) for position in positions)
            layout.set_back()
            if is_whole:
                return layout
    return None


def _choices(shape: Shape, rooms: Sequence[Room]) -> Iterator[Sequence[Room]]:
    """List the rooms to try: without cards before all, and for several roles one node before many."""
    whole = RoleShape("", 1, total_of(shape), avoids=shape[0].avoids)
    pools = [rooms]
    if not whole.resources.gpus:
        without_cards = [room for room in rooms if not room.types[""]]
        if 0 < len(without_cards) < len(rooms):
            pools.insert(0, without_cards)
    for pool in pools:
        if len(shape) > 1:
            wide_enough = [room for room in pool if room.holds(whole, 1)]
            yield from ([room] for room in sorted(wide_enough, key=_tightness(whole, 1)))
        yield pool


def _orders(shape: Shape) -> list[tuple[int, ...]]:
    """List the orders in which to try the roles: what is hardest to place comes first."""
    if len(shape) == 1:
        return [(0,)]
    by_gpus = sorted(range(len(shape)), key=lambda at: -shape[at].resources.gpus)
    by_type = sorted(by_gpus, key=lambda at: not (shape[at].resources.gpus and shape[at].gpu_type))
    by_cpus = sorted(by_gpus, key=lambda at: -shape[at].resources.milli_cpus)
    by_memory = sorted(by_gpus, key=lambda at: -shape[at].resources.memory_bytes)
    return list(dict.fromkeys(map(tuple, (by_type, by_gpus, by_cpus, by_memory))))


def _fill(layout: _Layout, position: int, role: RoleShape, rooms: Sequence[Room]) -> bool:
    """Put all tasks of one role: on one node if any takes them all, else on the widest ones first."""
    offers = [(n, room) for room in rooms if (n := room.holds(role, role.count))]
    left = role.count
    if sum(n for n, _ in offers) < left:
        return False
    if left and not any(n == left for n, _ in offers):
        tightness = _tightness(role, 1, layout.nodes)
        offers.sort(key=lambda offer: (-offer[0], tightness(offer[1])), reverse=True)
    while left:
        if enough := [room for n, room in offers if n >= left]:
            layout.put(position, role, min(enough, key=_tightness(role, left, layout.nodes)), left)
            break
        n, room = offers.pop()
        layout.put(position, role, room, n)
        left -= n
    return True


def _tightness(role: RoleShape, n_tasks: int, nodes: set[str] | frozenset[str] = frozenset()) -> Tightness:
    """Rank rooms for some tasks: beside the rest of the gang, then where the least stays free."""
    need = role.resources * n_tasks

    def rank(room: Room) -> tuple[int | str, ...]:
        # Tasks without GPUs shun nodes by their number of cards, whether those are free or not:
        # the cards are of no use later when the CPUs beside them are gone.
        cards = room.cards.bit_count() - need.gpus if need.gpus else room.types[""].bit_count()
        return (
            room.node.name not in nodes,
            cards,
            room.milli_cpus - need.milli_cpus,
            room.memory_bytes - need.memory_bytes,
            room.node.name,
        )

    return rank
