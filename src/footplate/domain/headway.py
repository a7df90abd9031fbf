"""How far a job has come, and how long it will take: from steps and epochs that it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What trainers call the end of the way, in parameters and in what they log.
STEP_NAMES = ("total_steps", "max_steps", "num_steps", "n_steps", "steps", "iterations", "max_iters")
EPOCH_NAMES = ("total_epochs", "epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs")


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a job was at a moment."""

    at: float
    step: int | None
    epoch: float | None


@dataclass(frozen=True, slots=True)
class Headway:
    """How far a job is; what cannot be told is None."""

    step: int | None
    total_steps: int | None
    epoch: float | None
    total_epochs: float | None
    fraction: float | None
    remaining_s: float | None


def total_in(parameters: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    """Find the end of the way among the parameters of a job."""
    for name in names:
        try:
            total = float(parameters[name])
        except (KeyError, TypeError, ValueError):
            continue
        if 0 < total < 1e15:
            return total
    return None


def headway(
    first: Reached, last: Reached, total_steps: float | None, total_epochs: float | None, now: float
) -> Headway:
    """Say how far a job is: by its steps if their number is known, else by its epochs."""
    fraction = remaining_s = None
    for begun, reached, total in (
        (first.step, last.step, total_steps),
        (first.epoch, last.epoch, total_epochs),
    ):
        if begun is None or reached is None or not total:
            continue
        fraction = min(1.0, max(0.0, reached / total))
        gone, left = reached - begun, max(0.0, total - reached)
        if gone > 0 and last.at > first.at:
            remaining_s = max(0.0, left * (last.at - first.at) / gone - max(0.0, now - last.at))
        break
    return Headway(
        last.step,
        None if total_steps is None else round(total_steps),
        last.epoch,
        total_epochs,
        fraction,
        remaining_s,
    )
