"""Device files of each GPU, and how a task is denied those of other tasks."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

Nodes = Mapping[int, tuple[str, ...]]
SHARED_BY_CARDS = (
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
    "/dev/nvidia-caps",
)
# By which tasks of several machines reach each other's memory.
SHARED_BY_ALL = ("/dev/infiniband",)


def nvidia_nodes(minors: Mapping[int, int], folder: Path = Path("/dev")) -> dict[int, tuple[str, ...]]:
    """Name the device file of every card by the card's index; a card's minor number need not be its index."""
    nodes = {index: str(folder / f"nvidia{minor}") for index, minor in minors.items()}
    return {index: (node,) for index, node in nodes.items() if Path(node).exists()}


def others(nodes: Nodes, given: Collection[int]) -> tuple[str, ...]:
    """List the device files of the cards that a task was not given."""
    mine = {node for index in given for node in nodes.get(index, ())}
    return tuple(
        node for index, owned in nodes.items() if index not in given for node in owned if node not in mine
    )


def given(nodes: Nodes, cards: Collection[int]) -> list[str]:
    """List the device files that a task with these cards needs."""
    own = [node for card in cards for node in nodes.get(card, ())]
    shared = [*(SHARED_BY_CARDS if own else ()), *SHARED_BY_ALL]
    return [*own, *filter(os.path.exists, shared)]


def rules(nodes: Collection[str]) -> tuple[str, ...]:
    """Write the lines that forbid device files in a control group of v1."""
    found = []
    for node in nodes:
        status = os.stat(node)  # noqa: PTH116
        kind = "b" if stat.S_ISBLK(status.st_mode) else "c"
        found.append(f"{kind} {os.major(status.st_rdev)}:{os.minor(status.st_rdev)} rwm")
    return tuple(found)
