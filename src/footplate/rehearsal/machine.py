"""What this machine has for a rehearsal: cards, ports at which nobody listens, variables."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Sequence

from footplate.domain.spec import JobSpec
from footplate.engines.local.machine.gpus import Cards
from footplate.engines.local.request import inherited_environment
from footplate.scheduler.ports import FIRST, port_needs

# Of this machine, which tasks on the platform would have of their own.
KEPT_VARIABLES = ("HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX")
N_MORE_PORTS = 100


def cards_here() -> list[int]:
    return [card.index for card in Cards().known]


def busy_ports(spec: JobSpec) -> frozenset[int]:
    """Look which ports are taken of those that the job may get."""
    needs = port_needs(spec)
    n_ports = sum(role.count * sum(one.count for one in needs[role.name]) for role in spec.roles)
    asked = [
        port
        for role in spec.roles
        for one in role.ports
        if one.begin_at
        for port in range(one.begin_at, min(one.begin_at + one.count * role.count + N_MORE_PORTS, 65_536))
    ]
    return frozenset(_taken([*range(FIRST, FIRST + n_ports + N_MORE_PORTS), *asked]))


def _taken(ports: Iterable[int]) -> Iterator[int]:
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                yield port


def surroundings(more: Sequence[str] = ()) -> dict[str, str]:
    """Pick what a rehearsed task sees of this shell: not all that it happens to have."""
    picked = inherited_environment(os.environ, (*KEPT_VARIABLES, *more))
    return {**picked, "PATH": os.environ.get("PATH") or picked["PATH"]}
