"""Metrics as TI-ONE's clients push and read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from footplate.dialects.fields import Reader
from footplate.domain.errors import InvalidInput
from footplate.domain.metrics import Columns, Point
from footplate.domain.problems import name_of

MOST_ENTRIES = 1000
MOST_POINTS = 100
# Where a point lies on each of the axes that clients know; None where it was not told.
AXES: Mapping[str, Callable[[Point], float | None]] = {
    "TIMESTAMP": lambda point: point.at,
    "EPOCH": lambda point: point.epoch,
    "STEP": lambda point: point.step,
}


def pushed(asked: Reader) -> dict[str, dict[str, Any]]:
    """Read the request PushTrainingMetrics: by task, the document that our own clients would send."""
    found: dict[str, dict[str, Any]] = {}
    entries = list(asked.each("Data", MOST_ENTRIES))
    if not entries:
        raise InvalidInput("required", "Data")
    for one in entries:
        document = found.setdefault(one.text("TaskId", None, 64), {"points": []})
        entry: dict[str, Any] = {"values": dict(_values(one)), "at": one.whole("Timestamp", None)}
        if one.has("Step"):
            entry["step"] = one.whole("Step")
        if one.has("Epoch"):
            entry["epoch"] = one.whole("Epoch")
        document["points"].append(entry)
        if one.has("TotalSteps"):
            document["total_steps"] = one.whole("TotalSteps")
    return found


def _values(one: Reader) -> Iterator[tuple[str, float]]:
    for point in one.each("Points", MOST_POINTS):
        value = point.value.get("Value")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput("not_number", f"{point.path}.Value", given=name_of(value))
        yield point.text("Name", None), value


def latest_view(last: Mapping[str, Point]) -> list[dict[str, Any]]:
    return [
        {"MetricName": name, "Values": [_value(point)]}
        for name, point in sorted(last.items())
        if math.isfinite(point.value)
    ]


def _value(point: Point) -> dict[str, Any]:
    told: dict[str, Any] = {"Timestamp": int(point.at), "Value": point.value}
    if point.epoch is not None:
        told["Epoch"] = int(point.epoch)
    if point.step is not None:
        told["Step"] = point.step
    return told


def curves_view(curves: Iterable[tuple[str, Columns]]) -> list[dict[str, Any]]:
    """Each metric over each axis on which its points have a place."""
    told = []
    for name, columns in curves:
        points = [columns.point(place, name) for place in range(len(columns))]
        series = []
        for axis, place_of in AXES.items():
            drawn = [
                {"XValue": place_of(point), "YValue": point.value}
                for point in points
                if place_of(point) is not None and math.isfinite(point.value)
            ]
            if drawn:
                series.append({"XType": axis, "Points": drawn})
        told.append({"MetricName": name, "Metrics": series})
    return told
