"""The turns of phrase of which reasons are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from footplate.domain.resources import Resources, show_bytes, show_cpus
from footplate.scheduler.snapshot import RoleShape

Dimension = Literal["gpus", "milli_cpus", "memory_bytes"]
DIMENSIONS: tuple[Dimension, ...] = ("gpus", "milli_cpus", "memory_bytes")


def of(dimension: Dimension, amount: Resources) -> int:
    match dimension:
        case "gpus":
            return amount.gpus
        case "milli_cpus":
            return amount.milli_cpus
        case "memory_bytes":
            return amount.memory_bytes


def figure(dimension: Dimension, n: int) -> str:
    match dimension:
        case "gpus":
            return str(n)
        case "milli_cpus":
            return show_cpus(n)
        case "memory_bytes":
            return show_bytes(n)


def amount(dimension: Dimension, n: int) -> str:
    match dimension:
        case "gpus":
            return counted(n, "GPU")
        case "milli_cpus":
            return f"{show_cpus(n)} {'CPU' if n == 1000 else 'CPUs'}"
        case "memory_bytes":
            return f"{show_bytes(n)} of memory"


def amounts(wanted: Resources) -> str:
    """Write everything that is asked for, such as `2 GPUs, 4 CPUs and 8GB of memory`."""
    return listed([amount(dimension, n) for dimension in DIMENSIONS if (n := of(dimension, wanted))])


def free_of(dimension: Dimension, free: int, capacity: int) -> str:
    is_one = dimension == "memory_bytes" or free == (1000 if dimension == "milli_cpus" else 1)
    return f"{figure(dimension, free)} of {figure(dimension, capacity)} {'is' if is_one else 'are'} free"


def of_type(role: RoleShape) -> str:
    return f" of type {role.gpu_type}" if role.gpu_type and role.resources.gpus else ""


def counted(n: int, noun: str) -> str:
    return f"{n} {noun if n == 1 else noun + 's'}"


def listed(words: Sequence[str], most: int = 8) -> str:
    shown = [*words[:most], f"{len(words) - most} more"] if len(words) > most else list(words)
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def span(seconds: float, whole: Callable[[float], int] = math.ceil) -> str:
    """Write a length of time in the largest unit that says enough of it."""
    for unit, factor in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * factor:
            return f"{whole(seconds / factor)} {unit}"
    return counted(whole(seconds), "second")


def as_json(resources: Resources) -> dict[str, int]:
    return {dimension: of(dimension, resources) for dimension in reversed(DIMENSIONS)}
