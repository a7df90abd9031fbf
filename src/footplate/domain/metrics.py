"""Points of metrics: what a job tells of its training, by name, with time, step and epoch."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.domain.problems import name_of

MOST_POINTS: Final = 20_000
MOST_NAME: Final = 250
MOST_SOURCE: Final = 64
NO_STEP: Final = -(1 << 63)
_MOST_STEP: Final = 1 << 62
# What a job tells of how far it will go; kept like other points, shown as progress.
TOTAL_STEPS: Final = "footplate/total_steps"
TOTAL_EPOCHS: Final = "footplate/total_epochs"
TOTALS: Final = {"total_steps": TOTAL_STEPS, "total_epochs": TOTAL_EPOCHS}
_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Point(NamedTuple):
    """One value; without a step or an epoch where the job told none."""

    at: float
    name: str
    value: float
    step: int | None = None
    epoch: float | None = None


@dataclass(slots=True)
class Columns:
    """The points of one curve in order, by columns; `NO_STEP` and NaN stand for what was not told."""

    at: array[float] = field(default_factory=lambda: array("d"))
    step: array[int] = field(default_factory=lambda: array("q"))
    epoch: array[float] = field(default_factory=lambda: array("d"))
    value: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.at)

    def add(self, point: Point) -> None:
        self.at.append(point.at)
        self.step.append(NO_STEP if point.step is None else point.step)
        self.epoch.append(math.nan if point.epoch is None else point.epoch)
        self.value.append(point.value)

    def extend(self, other: Columns) -> None:
        self.at.extend(other.at)
        self.step.extend(other.step)
        self.epoch.extend(other.epoch)
        self.value.extend(other.value)

    def take(self, places: Iterable[int]) -> Columns:
        """Pick points by their places."""
        chosen = list(places)
        return Columns(
            array("d", [self.at[place] for place in chosen]),
            array("q", [self.step[place] for place in chosen]),
            array("d", [self.epoch[place] for place in chosen]),
            array("d", [self.value[place] for place in chosen]),
        )

    def part(self, begin: int, end: int) -> Columns:
        return Columns(self.at[begin:end], self.step[begin:end], self.epoch[begin:end], self.value[begin:end])

    def point(self, place: int, name: str = "") -> Point:
        step, epoch = self.step[place], self.epoch[place]
        return Point(
            self.at[place],
            name,
            self.value[place],
            None if step == NO_STEP else step,
            None if epoch != epoch else epoch,  # NaN, and nothing else, differs from itself
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """Points that come together; with a source and a number, it is kept once however often it comes."""

    curves: Mapping[str, Columns]
    source: str = ""
    number: int = 0

    @property
    def n_points(self) -> int:
        return sum(len(columns) for columns in self.curves.values())

    def points(self) -> Iterator[Point]:
        """All points, oldest first."""
        every = [
            columns.point(place, name)
            for name, columns in self.curves.items()
            for place in range(len(columns))
        ]
        return iter(sorted(every, key=lambda point: point.at))


def gather(points: Iterable[Point], source: str = "", number: int = 0) -> Batch:
    """Sort points by their names."""
    curves: dict[str, Columns] = {}
    for point in points:
        curves.setdefault(point.name, Columns()).add(point)
    return Batch(curves, source, number)


def read_batch(document: Any, now: float) -> Batch:
    """Read what a client has sent; raise `InvalidInput` for the first thing that is wrong with it.

    By hand, and not field by field as other documents: there may be many thousands of points.
    """
    if not isinstance(document, dict):
        raise InvalidInput("not_map", "body", given=name_of(document))
    unknown = set(document) - {"points", "source", "seq", "task", "attempt", *TOTALS}
    if unknown:
        raise InvalidInput("unknown_field", sorted(map(str, unknown))[0][:80])
    source, number = document.get("source", ""), document.get("seq", 0)
    if not isinstance(source, str) or len(source) > MOST_SOURCE or not source.isprintable():
        raise InvalidInput("not_metric_source", "source", most=MOST_SOURCE)
    if not _is_whole(number) or not 0 <= number < _MOST_STEP:
        raise InvalidInput("not_whole_number", "seq", given=name_of(number))
    entries = document.get("points", [])
    if not isinstance(entries, list):
        raise InvalidInput("not_list", "points", given=name_of(entries))
    points = [point for place, entry in enumerate(entries) for point in _entry(entry, place, now)]
    points += _totals(document, now)
    if len(points) > MOST_POINTS:
        raise TooLarge("too_many_points", "points", most=MOST_POINTS, given=len(points))
    return gather(points, source, number)


def _totals(document: Mapping[str, Any], now: float) -> Iterator[Point]:
    for field_name, name in TOTALS.items():
        if document.get(field_name) is not None:
            yield Point(now, name, _number(document[field_name], field_name))


def _entry(entry: Any, place: int, now: float) -> Iterator[Point]:
    path = f"points[{place}]"
    if not isinstance(entry, dict) or not isinstance(entry.get("values"), dict):
        raise InvalidInput("not_metric_entry", path)
    if not entry.keys() <= {"values", "at", "step", "epoch", "group"}:
        unknown = sorted(map(str, entry.keys() - {"values", "at", "step", "epoch", "group"}))
        raise InvalidInput("unknown_field", f"{path}.{unknown[0][:80]}")
    at, step, epoch = entry.get("at"), entry.get("step"), entry.get("epoch")
    at = now if at is None else _number(at, f"{path}.at")
    if not 0 <= at < 1e11:
        raise InvalidInput("not_metric_time", f"{path}.at")
    if step is not None and (not _is_whole(step) or abs(step) > _MOST_STEP):
        raise InvalidInput("not_whole_number", f"{path}.step", given=name_of(step))
    epoch = None if epoch is None else _number(epoch, f"{path}.epoch")
    group = entry.get("group")
    for name, value in entry["values"].items():
        whole = f"{group}/{name}" if group else name
        if not is_metric_name(whole):
            raise InvalidInput("not_metric_name", f"{path}.values", given=str(whole)[:80], most=MOST_NAME)
        yield Point(at, whole, _number(value, f"{path}.values"), step, epoch)


def is_metric_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= MOST_NAME and name.isprintable()


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any, path: str) -> float:
    if value.__class__ is float:
        return float(value)
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if not _is_whole(value) or abs(value) > 1 << 1000:
        raise InvalidInput("not_number", path, given=name_of(value))
    return float(value)
