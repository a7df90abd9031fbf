"""Ports that strangers use: what a pass hands out is tried first, and remembered where it is not free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from footplate.domain.cluster import Placement
from footplate.scheduler.ports import FIRST, PortLedger, PortNeeds, PortRoom

# Ports that others use are rare; a job does not hold the loop up to find the last free one.
MOST_PROBES = 200


IsFree = Callable[[str, int], bool]


def all_free(_node: str, _port: int) -> bool:
    return True


class Ports:
    """Knows where the search for ports goes on, and which ones were found in use by strangers.

    `is_free` says of a node and a port whether nobody listens there.
    Servers that share a machine should begin at different ports: those that one has given out are free until
    its tasks listen there.
    """

    def __init__(self, is_free: IsFree = all_free, begin_at: int = FIRST) -> None:
        self._is_free = is_free
        self._busy: dict[str, set[int]] = {}
        self.begin_at = begin_at

    def room(self) -> PortRoom:
        """How the ports stand; those that were in use are tried again."""
        for node, ports in list(self._busy.items()):
            self._busy[node] = {port for port in ports if not self._is_free(node, port)}
        busy = {node: frozenset(ports) for node, ports in self._busy.items() if ports}
        return PortRoom(self.begin_at, busy)

    def confirm(self, needs: PortNeeds, planned: Placement, others: Iterable[Placement]) -> Placement | None:
        """Try the ports of a planned start, and find other ones for those in use; None when there are none.

        `others` are the placements beside it, those of the same pass included.
        """
        n_probed, placement = 0, planned
        known: Sequence[Placement] | None = None
        while (found := self._in_use(placement)) is not None:
            n_probed += 1
            node, port = found
            self._busy.setdefault(node, set()).add(port)
            known = list(others) if known is None else known
            ledger = PortLedger(self._as_found(), known)
            given = ledger.give(needs, planned)
            if given is None or n_probed == MOST_PROBES:
                return None
            self.begin_at, placement = ledger.begin_at, given
        return placement

    def _as_found(self) -> PortRoom:
        return PortRoom(self.begin_at, {node: frozenset(ports) for node, ports in self._busy.items()})

    def _in_use(self, placement: Placement) -> tuple[str, int] | None:
        for task in placement.tasks:
            for _, numbers in task.ports:
                for port in numbers:
                    if not self._is_free(task.node, port):
                        return task.node, port
        return None
