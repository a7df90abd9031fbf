"""Ports as a part of what nodes have to give: which are taken, and which ones a gang gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from footplate.domain.cluster import GIVEN_PORTS, Placement, TaskPlacement
from footplate.domain.messages import say
from footplate.domain.spec import JobSpec, PortRange
from footplate.domain.states import Reason, ReasonCode

NO_PORTS = Reason(ReasonCode.NO_PORTS, say("no_ports"))
FIRST, LAST = GIVEN_PORTS[0], GIVEN_PORTS[-1]
MAIN = PortRange("main")
_ONLY_MAIN = (MAIN,)

# What each task of a role needs, by the role's name.
PortNeeds = Mapping[str, tuple[PortRange, ...]]


def port_needs(spec: JobSpec) -> PortNeeds:
    """Say what ports the tasks of a job need: what its roles ask for, and one named `main` to meet others."""
    return {role.name: _with_main(role.ports) for role in spec.roles}


def _with_main(asked: tuple[PortRange, ...]) -> tuple[PortRange, ...]:
    if not asked:
        return _ONLY_MAIN
    return asked if any(ports.label == MAIN.label for ports in asked) else (MAIN, *asked)


@dataclass(frozen=True, slots=True)
class PortRoom:
    """Where the search for free ports begins, and which ones strangers use, by node."""

    begin_at: int = FIRST
    busy: Mapping[str, frozenset[int]] = field(default_factory=dict)


class PortLedger:
    """The ports that are taken, within one pass.

    It goes round the range, so that a port that was just given back is not given out at once.
    """

    def __init__(self, room: PortRoom, running: Iterable[Placement]) -> None:
        self.begin_at = room.begin_at
        self._taken = {(node, port) for node, ports in room.busy.items() for port in ports}
        for placement in running:
            self.take(placement)

    def take(self, placement: Placement) -> None:
        """Count the ports of a gang as taken."""
        self._taken.update(
            (task.node, port) for task in placement.tasks for _, numbers in task.ports for port in numbers
        )

    def give(self, needs: PortNeeds, placement: Placement) -> Placement | None:
        """Give every task its ports, whole or not at all; None when a node has none left."""
        given: set[tuple[str, int]] = set()
        begin_at, tasks = self.begin_at, []
        for task in placement.tasks:
            placed = self._give(task, needs.get(task.role, ()), given)
            if placed is None:
                self.begin_at = begin_at
                return None
            tasks.append(placed)
        self._taken |= given
        return replace(placement, tasks=tuple(tasks))

    def _give(
        self, task: TaskPlacement, wanted: tuple[PortRange, ...], given: set[tuple[str, int]]
    ) -> TaskPlacement | None:
        ports = []
        for one in wanted:
            numbers = self._find(task.node, one, given)
            if numbers is None:
                return None
            given.update((task.node, port) for port in numbers)
            ports.append((one.label, numbers))
        return replace(task, ports=tuple(ports))

    def _find(self, node: str, wanted: PortRange, given: set[tuple[str, int]]) -> tuple[int, ...] | None:
        for first in self._beginnings(wanted):
            numbers = tuple(range(first, first + wanted.count))
            if not any((node, port) in self._taken or (node, port) in given for port in numbers):
                self.begin_at = self.begin_at if wanted.begin_at else numbers[-1] + 1
                return numbers
        return None

    def _beginnings(self, wanted: PortRange) -> Iterator[int]:
        """Where a range may begin: from the asked port upwards, or once round from the last one's end."""
        if wanted.begin_at:
            yield from range(wanted.begin_at, 65_536 - wanted.count + 1)
            return
        last = LAST - wanted.count + 1
        yield from range(min(self.begin_at, LAST + 1), last + 1)
        yield from range(FIRST, min(self.begin_at, last + 1))
