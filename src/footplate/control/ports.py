"""Handing out ports: every task gets what its role asks for, and one named `main` to meet the others."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from footplate.domain.cluster import GIVEN_PORTS, Placement, TaskPlacement
from footplate.domain.spec import JobSpec, PortRange

MAIN = PortRange("main")
FIRST, LAST = GIVEN_PORTS[0], GIVEN_PORTS[-1]
# Ports that others use are rare; a job does not hold the loop up to find the last free one.
MOST_PROBES = 200


def is_free_here(port: int) -> bool:
    """Tell whether nobody listens on a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Ports:
    """Goes round its range, so that a port that was just given back is not given out at once.

    Servers that share a machine should begin at different ports: those that one has given out are free until
    its tasks listen there.
    """

    def __init__(self, is_free: Callable[[int], bool] = is_free_here, begin_at: int = FIRST) -> None:
        self._is_free = is_free
        self._next = begin_at

    def assign(self, spec: JobSpec, placement: Placement, running: Iterable[Placement]) -> Placement | None:
        """Give every task its ports; None when a node has none left."""
        taken = {
            (task.node, port)
            for other in running
            for task in other.tasks
            for _, numbers in task.ports
            for port in numbers
        }
        tasks = []
        for task in placement.tasks:
            own = spec.role(task.role).ports
            wanted = own if any(ports.label == MAIN.label for ports in own) else (MAIN, *own)
            given = [(ports.label, self._take(task.node, ports, taken)) for ports in wanted]
            if any(numbers is None for _, numbers in given):
                return None
            tasks.append(_with_ports(task, given))
        return Placement(tuple(tasks))

    def _take(self, node: str, wanted: PortRange, taken: set[tuple[str, int]]) -> tuple[int, ...] | None:
        n_probed = 0
        for first in self._beginnings(wanted):
            numbers = tuple(range(first, first + wanted.count))
            if any((node, port) in taken for port in numbers):
                continue
            n_probed += 1
            if all(self._is_free(port) for port in numbers):
                taken.update((node, port) for port in numbers)
                self._next = self._next if wanted.begin_at else numbers[-1] + 1
                return numbers
            if n_probed == MOST_PROBES:
                break
        return None

    def _beginnings(self, wanted: PortRange) -> Iterator[int]:
        """Where a range may begin: from the asked port upwards, or once round from the last one's end."""
        if wanted.begin_at:
            yield from range(wanted.begin_at, 65_536 - wanted.count + 1)
            return
        last = LAST - wanted.count + 1
        yield from range(min(self._next, LAST + 1), last + 1)
        yield from range(FIRST, min(self._next, last + 1))


def _with_ports(task: TaskPlacement, given: list[tuple[str, tuple[int, ...] | None]]) -> TaskPlacement:
    return replace(task, ports=tuple((label, numbers) for label, numbers in given if numbers is not None))
