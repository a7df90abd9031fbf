"""Amounts of CPU, memory and GPUs, exact in integers so that sums never drift."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of each thing that a task occupies."""

    milli_cpus: int = 0
    memory_bytes: int = 0
    gpus: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.milli_cpus + other.milli_cpus,
            self.memory_bytes + other.memory_bytes,
            self.gpus + other.gpus,
        )

    def __sub__(self, other: Resources) -> Resources:
        return Resources(
            self.milli_cpus - other.milli_cpus,
            self.memory_bytes - other.memory_bytes,
            self.gpus - other.gpus,
        )

    def __mul__(self, times: int) -> Resources:
        return Resources(self.milli_cpus * times, self.memory_bytes * times, self.gpus * times)

    def fits_in(self, room: Resources) -> bool:
        return (
            self.milli_cpus <= room.milli_cpus
            and self.memory_bytes <= room.memory_bytes
            and self.gpus <= room.gpus
        )


NOTHING = Resources()
# As a bound: more than any machine has, and still exact as a JSON number.
UNLIMITED = 2**53


def total(amounts: Iterable[Resources]) -> Resources:
    """Add up any iterable of resources."""
    result = NOTHING
    for amount in amounts:
        result = result + amount
    return result


def show_bytes(size_bytes: float) -> str:
    """Write a size the way the job file reads it, such as `1.5GB`."""
    for unit, factor in (("TB", 1024**4), ("GB", GIB), ("MB", MIB), ("KB", 1024)):
        if abs(size_bytes) >= factor:
            return f"{size_bytes / factor:.4g}{unit}"
    return f"{size_bytes:.4g}B"
