"""Filters and orders of MLflow's search for runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from footplate.domain.errors import InvalidInput
from footplate.services.tracking import SeenRun

_CLAUSE = re.compile(
    r"\s*(?:(?P<kind>\w+)\.)?(?P<key>`[^`]+`|\"[^\"]+\"|[\w./-]+)\s*"
    r"(?P<sign>!=|>=|<=|=|>|<|I?LIKE\b|like\b|ilike\b)\s*(?P<value>'[^']*'|\"[^\"]*\"|[-+\w.]+)\s*$"
)
_ORDER = re.compile(
    r"\s*(?:(?P<kind>\w+)\.)?(?P<key>`[^`]+`|\"[^\"]+\"|[\w./-]+)(?:\s+(?P<way>ASC|DESC|asc|desc))?\s*$"
)
_AND = re.compile(r"\s+and\s+(?=(?:[^'\"]*['\"][^'\"]*['\"])*[^'\"]*$)", re.IGNORECASE)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
    ">": lambda one, other: bool(one > other),
    "<": lambda one, other: bool(one < other),
    ">=": lambda one, other: bool(one >= other),
    "<=": lambda one, other: bool(one <= other),
}


def search(runs: Sequence[SeenRun], wanted: str, order_by: Sequence[str], view: str) -> list[SeenRun]:
    """Choose and order runs; raise `InvalidInput` for what is no filter."""
    found = [run for run in runs if view in ("ALL", "DELETED_ONLY") or not run.run.is_deleted]
    if view == "DELETED_ONLY":
        found = [run for run in found if run.run.is_deleted]
    for clause in _AND.split(wanted.strip()) if wanted.strip() else ():
        test = _test(clause)
        found = [run for run in found if test(run)]
    found.sort(key=lambda run: -run.run.started_at)
    for order in reversed(order_by):
        found = _ordered(found, order)
    return found


def _test(clause: str) -> Callable[[SeenRun], bool]:
    read = _CLAUSE.match(clause)
    if read is None:
        raise InvalidInput("not_run_filter", "filter", given=clause[:80])
    kind, key = read["kind"] or "attributes", read["key"].strip('`"')
    sign, text = read["sign"], read["value"]
    wanted: Any = text.strip("'\"")
    if kind in ("metrics", "metric") or (text[0] not in "'\"" and kind.startswith("attribute")):
        try:
            wanted = float(wanted)
        except ValueError:
            raise InvalidInput("not_run_filter", "filter", given=clause[:80]) from None

    def holds(run: SeenRun) -> bool:
        value = _value(run, kind, key)
        if value is None:
            return False
        if sign.lower() in ("like", "ilike"):
            flags = re.IGNORECASE if sign.lower() == "ilike" else re.NOFLAG
            parts = {"%": ".*", "_": "."}
            pattern = "".join(parts.get(one) or re.escape(one) for one in str(wanted))
            return re.fullmatch(pattern, str(value), flags) is not None
        return type(value) is type(wanted) and _SIGNS[sign](value, wanted)

    return holds


def _ordered(runs: list[SeenRun], order: str) -> list[SeenRun]:
    read = _ORDER.match(order)
    if read is None:
        raise InvalidInput("not_run_filter", "order_by", given=order[:80])
    kind, key = read["kind"] or "attributes", read["key"].strip('`"')
    values = {id(run): _value(run, kind, key) for run in runs}
    known = [run for run in runs if values[id(run)] is not None]
    known.sort(key=lambda run: values[id(run)], reverse=(read["way"] or "").upper() == "DESC")
    # Those without such a value come last, whichever way.
    return known + [run for run in runs if values[id(run)] is None]


def _value(seen: SeenRun, kind: str, key: str) -> Any:
    run = seen.run
    if kind in ("metrics", "metric"):
        point = seen.metrics.get(key)
        return None if point is None else point.value
    if kind in ("params", "parameters", "param", "parameter"):
        return run.params.get(key)
    if kind in ("tags", "tag"):
        return run.tags.get(key)
    attributes = {
        "status": run.status,
        "run_id": run.id,
        "run_name": run.name,
        "Run name": run.name,
        "user_id": seen.owner,
        "start_time": run.started_at * 1000,
        "Created": run.started_at * 1000,
        "end_time": None if run.ended_at is None else run.ended_at * 1000,
    }
    return attributes.get(key)
