"""Reads points out of lines that trainings write: JSON lines of several makers, and matches of patterns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from footplate.domain.metrics import Point, is_metric_name

# Files that are read without being asked for: ours, and those of FfDL.
FILE_NAMES: Final = frozenset({"metrics.jsonl", "evaluation-metrics.txt", "emetrics.jsonl"})
# Stands for the slash between a group and a metric in the names of a pattern, which have none.
GROUP_MARK: Final = "__"
_STEPS: Final = ("step", "global_step", "iteration", "iter")
_EPOCHS: Final = ("epoch",)
_TIMES: Final = ("at", "timestamp", "time", "ts")


def points_of_line(line: str, now: float) -> list[Point]:
    """Read one line of JSON: `{"step": 3, "loss": 0.5}`, `{"step": 3, "values": {…}}`, or FfDL's form.

    What is no such line, or no number in it, is passed over: nobody can be told of it.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    if isinstance(found.get("etimes"), dict):
        return list(_of_ffdl(found, now))
    step, epoch, at = (_first(found, names) for names in (_STEPS, _EPOCHS, _TIMES))
    values = found.get("values")
    named = (
        values
        if isinstance(values, dict)
        else {name: value for name, value in found.items() if name not in (*_STEPS, *_EPOCHS, *_TIMES)}
    )
    group = found.get("group")
    return list(_points(named, group, step, epoch, now if at is None else at))


def points_of_match(groups: Mapping[str, str | None], now: float) -> list[Point]:
    """Read the named groups of a match in a log: each is a metric, but for step and epoch.

    `val__loss` is the metric `val/loss`.
    """
    step, epoch = _first(groups, _STEPS), _first(groups, _EPOCHS)
    named = {
        name.replace(GROUP_MARK, "/", 1): text
        for name, text in groups.items()
        if name not in (*_STEPS, *_EPOCHS)
    }
    return list(_points(named, "", step, epoch, now))


def _of_ffdl(found: Mapping[str, Any], now: float) -> Iterator[Point]:
    times = {name: _plain(value) for name, value in found["etimes"].items()}
    values = found.get("values")
    named = {name: _plain(value) for name, value in values.items()} if isinstance(values, dict) else {}
    step, epoch, at = (_first(times, names) for names in (_STEPS, _EPOCHS, _TIMES))
    # Milliseconds, as FfDL has them.
    at = now if at is None else at / 1000 if at > 1e11 else at
    yield from _points(named, found.get("grouplabel"), step, epoch, at)


def _plain(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) else value


def _points(
    named: Mapping[str, Any], group: Any, step: float | None, epoch: float | None, at: float
) -> Iterator[Point]:
    for name, value in named.items():
        number = _number(value)
        whole = f"{group}/{name}" if isinstance(group, str) and group else name
        if number is not None and is_metric_name(whole) and 0 <= at < 1e11:
            yield Point(at, whole, number, None if step is None else int(step), epoch)


def _first(found: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    number = next((_number(found[name]) for name in names if name in found), None)
    return number if number is not None and abs(number) < 1 << 62 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
