"""The curves of a TensorBoard event file, with as many points as a picture of them can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from footplate.domain.eventfile import NotAnEventFile, Scalar, read_scalars

MOST_CURVES = 100
MOST_POINTS = 500


@dataclass(frozen=True, slots=True)
class Curve:
    """The values of one tag by step; None where one is no number."""

    tag: str
    steps: Sequence[int]
    values: Sequence[float | None]


def curves_of(data: bytes) -> list[Curve] | None:
    """Read the beginning of an event file; None when it is none."""
    try:
        scalars, _n_bytes = read_scalars(data)
    except NotAnEventFile:
        return None
    by_tag: dict[str, list[Scalar]] = {}
    for scalar in scalars:
        by_tag.setdefault(scalar.tag, []).append(scalar)
    return [_curve(tag, by_tag[tag]) for tag in sorted(by_tag)[:MOST_CURVES]]


def _curve(tag: str, found: Sequence[Scalar]) -> Curve:
    # A step that comes again, as after a restart, replaces what it said before.
    by_step = {scalar.step: scalar.value for scalar in found}
    steps = _thinned(sorted(by_step))
    return Curve(tag, steps, [_number(by_step[step]) for step in steps])


def _thinned(steps: Sequence[int]) -> Sequence[int]:
    """As many as can be shown, evenly, the first and the last among them."""
    if len(steps) <= MOST_POINTS:
        return steps
    last = len(steps) - 1
    return [steps[round(i * last / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
