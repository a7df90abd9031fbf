"""Handing out ports: every task gets what its role asks for, and one named `main` to meet the others."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from dataclasses import replace

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.spec import JobSpec, PortRange

MAIN = PortRange("main")
FIRST, LAST = 20_000, 29_999


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
    """Goes round its range, so that a port that was just given back is not given out at once."""

    def __init__(self, is_free: Callable[[int], bool] = is_free_here) -> None:
        self._is_free = is_free
        self._next = FIRST

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
            wanted = (MAIN, *(ports for ports in spec.role(task.role).ports if ports.label != MAIN.label))
            given = [(ports.label, self._take(task.node, ports, taken)) for ports in wanted]
            if any(numbers is None for _, numbers in given):
                return None
            tasks.append(_with_ports(task, given))
        return Placement(tuple(tasks))

    def _take(self, node: str, wanted: PortRange, taken: set[tuple[str, int]]) -> tuple[int, ...] | None:
        span = LAST - FIRST + 1
        for step in range(span):
            if wanted.begin_at:
                first = wanted.begin_at + step
            else:
                first = FIRST + (self._next - FIRST + step) % span
            numbers = tuple(range(first, first + wanted.count))
            if numbers[-1] > (65_535 if wanted.begin_at else LAST):
                if wanted.begin_at:
                    return None
                continue
            if all((node, port) not in taken and self._is_free(port) for port in numbers):
                taken.update((node, port) for port in numbers)
                self._next = self._next if wanted.begin_at else numbers[-1] + 1
                return numbers
        return None


def _with_ports(task: TaskPlacement, given: list[tuple[str, tuple[int, ...] | None]]) -> TaskPlacement:
    return replace(task, ports=tuple((label, numbers) for label, numbers in given if numbers is not None))
