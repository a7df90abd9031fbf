"""Amounts of resources as the parameters of reasons."""

from __future__ import annotations

from typing import Any, Literal

from footplate.domain.resources import Resources
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


def as_json(resources: Resources) -> dict[str, int]:
    """Write amounts as messages and answers carry them."""
    return {dimension: of(dimension, resources) for dimension in reversed(DIMENSIONS)}


def amount(dimension: Dimension, n: int, role: RoleShape | None = None) -> dict[str, Any]:
    """Write how much it is of one resource; of GPUs with the type that a role asks for."""
    kind = role.gpu_type if role is not None and dimension == "gpus" else ""
    return {dimension: n, "gpu_type": kind} if kind else {dimension: n}


def amounts(role: RoleShape) -> dict[str, Any]:
    """Write all that one task of a role asks for."""
    kind = role.gpu_type if role.resources.gpus else ""
    return {**as_json(role.resources), "gpu_type": kind} if kind else as_json(role.resources)
