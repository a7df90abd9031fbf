"""Curves thinned for charts: of every group of points, the lowest and the highest stay."""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from footplate.domain.metrics import NO_STEP, Columns, Point

Axis = Literal["step", "time", "epoch"]
# Of a curve that is longer, memory holds this much; files hold all of it.
MOST_KEPT = 4096
_GROUP = 4
_NO_STEP_BYTES = array("q", [NO_STEP]).tobytes()


@dataclass(slots=True)
class Shape:
    """What memory holds of a curve's points; each `stride` points have left two behind."""

    stride: int = 1
    kept: Columns = field(default_factory=Columns)
    _tail: Columns = field(default_factory=Columns)

    def __len__(self) -> int:
        return len(self.kept) + len(self._tail)

    def extend(self, columns: Columns) -> None:
        if self.stride == 1:
            self.kept.extend(columns)
        else:
            self._tail.extend(columns)
            whole = len(self._tail) - len(self._tail) % self.stride
            self.kept.extend(thin(self._tail.part(0, whole), self.stride))
            self._tail = self._tail.part(whole, len(self._tail))
        while len(self.kept) > MOST_KEPT:
            self.stride = _GROUP if self.stride == 1 else self.stride * 2
            self.kept = thin(self.kept, _GROUP)

    def columns(self) -> Columns:
        """All of it, the newest points whole."""
        whole = self.kept.part(0, len(self.kept))
        whole.extend(self._tail)
        return whole


@dataclass(slots=True)
class Curve:
    """One metric of one task in one attempt: its figures, and its shape while memory holds it."""

    n_points: int = 0
    first: Point | None = None
    last: Point | None = None
    lowest: float | None = None
    highest: float | None = None
    shape: Shape | None = None

    def extend(self, columns: Columns) -> None:
        n = len(columns)
        self.n_points += n
        self.first = self.first or columns.point(0)
        self.last = columns.point(n - 1)
        finite = _finite(columns.value)
        if finite:
            low, high = min(finite), max(finite)
            self.lowest = low if self.lowest is None else min(low, self.lowest)
            self.highest = high if self.highest is None else max(high, self.highest)
        if self.shape is not None:
            self.shape.extend(columns)


def stride_for(n_points: float) -> int:
    """Say how coarse the shape of a curve may begin that is known to become so long."""
    stride = 1
    while n_points / stride * 2 > MOST_KEPT:
        stride = stride * 2 if stride > 1 else _GROUP
    return stride


def thin(columns: Columns, group: int) -> Columns:
    """Keep the lowest and the highest of each group of so many points."""
    return columns.take(_extremes(columns.value, group))


def thin_to(columns: Columns, most: int) -> Columns:
    """Keep at most about so many points, first and last included."""
    n = len(columns)
    if n <= most:
        return columns
    group = max(2, math.ceil(2 * n / max(most - 2, 2)))
    return columns.take(sorted({0, *_extremes(columns.value, group), n - 1}))


def _extremes(values: array[float], group: int) -> Iterator[int]:
    are_finite = math.isfinite(sum(values))
    for begin in range(0, len(values), group):
        part = values[begin : begin + group]
        if not are_finite and not math.isfinite(sum(part)):
            yield from (begin + place for place in _among_odd(part))
            continue
        first, second = part.index(min(part)), part.index(max(part))
        yield begin + min(first, second)
        if first != second:
            yield begin + max(first, second)


def _among_odd(part: Sequence[float]) -> list[int]:
    """Choose where some are not finite: one of those, and the extremes of the others."""
    finite = [place for place, value in enumerate(part) if math.isfinite(value)]
    odd = [place for place, value in enumerate(part) if not math.isfinite(value)][:1]
    extremes = [min(finite, key=part.__getitem__), max(finite, key=part.__getitem__)] if finite else []
    return sorted({*extremes, *odd})


def _finite(values: Sequence[float]) -> Sequence[float]:
    return values if math.isfinite(sum(values)) else [value for value in values if math.isfinite(value)]


def axis_of(columns: Columns, wanted: Axis) -> Axis:
    """Choose what a curve is drawn over: what was wanted, or else what its points have."""
    if wanted == "step" and not _has_steps(columns):
        return "epoch" if _has_epochs(columns) else "time"
    if wanted == "epoch" and not _has_epochs(columns):
        return "step" if _has_steps(columns) else "time"
    return wanted


def _has_steps(columns: Columns) -> bool:
    steps = columns.step
    return bool(steps) and (steps[0] != NO_STEP or steps.count(NO_STEP) < len(steps))


def _lacks_steps(steps: array[int]) -> bool:
    """Tell whether any point has no step; as bytes first, which takes a hundredth of the time."""
    return _NO_STEP_BYTES in steps.tobytes() and NO_STEP in steps


def _has_epochs(columns: Columns) -> bool:
    # Only NaN differs from itself.
    return any(map(operator.eq, columns.epoch, columns.epoch))


def over(columns: Columns, axis: Axis) -> tuple[Columns, Sequence[float]]:
    """Order points along an axis, those left out that have no place on it; with their places."""
    places = _places(columns, axis)
    has_all = axis != "step" or not _lacks_steps(columns.step)
    # As they come as a rule; NaN is never in order.
    if has_all and all(map(operator.le, places, places[1:])) and (axis != "epoch" or len(places) != 1):
        return columns, places
    if axis == "step":
        chosen = [place for place, step in enumerate(columns.step) if step != NO_STEP]
    elif axis == "epoch":
        chosen = [place for place, epoch in enumerate(columns.epoch) if epoch == epoch]
    else:
        chosen = list(range(len(columns)))
    columns = columns.take(sorted(chosen, key=places.__getitem__))
    return columns, _places(columns, axis)


def _places(columns: Columns, axis: Axis) -> Sequence[float]:
    if axis == "step":
        return columns.step
    return columns.at if axis == "time" else columns.epoch
