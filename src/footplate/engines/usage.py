"""What tasks and nodes use, as engines tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardUsage:
    """How busy one card is, by all that runs on it: 0 to 1, the memory taken, and the power it draws."""

    index: int
    utilisation: float
    memory_bytes: int
    power_w: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one running task uses; amounts that only grow count from its start. None: cannot be read.

    What goes over the network is counted where the task has a network of its own, less its loopback.
    """

    attempt_id: str
    role: str
    index: int
    run: int
    at: float
    cpu_s: float
    memory_bytes: int
    peak_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    n_processes: int | None = None
    cards: tuple[CardUsage, ...] = ()
    received_bytes: int | None = None
    sent_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """What all that runs on a node uses, tasks or not; amounts that only grow count from any moment on."""

    node: str
    at: float
    cpu_s: float
    memory_bytes: int
    read_bytes: int | None = None
    written_bytes: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    cards: tuple[CardUsage, ...] = ()
