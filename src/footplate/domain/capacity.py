"""What is free where the jobs of a queue may run."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.resources import Resources


@dataclass(frozen=True, slots=True)
class Stock:
    """An amount of one thing: what is free of it, what there is, and what one node has at most."""

    free: int
    total: int
    largest: int


@dataclass(frozen=True, slots=True)
class Cards:
    """The GPUs of one type."""

    type: str
    count: Stock


@dataclass(frozen=True, slots=True)
class Capacity:
    """The nodes of a queue in sum; `headroom` is what its maximum leaves, None without one."""

    milli_cpus: Stock
    memory_bytes: Stock
    cards: tuple[Cards, ...]
    headroom: Resources | None
