"""Reads `evaluation_metrics` of a manifest: where a training leaves its metrics, and how its log tells them.

Event files and JSON lines below `$JOB_STATE_DIR` are collected without being asked for. What is left to do
are the expressions of `regex_extractor`, which become patterns over the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from footplate.dialects.ffdl.amounts import text
from footplate.dialects.translation import Notes
from footplate.domain.messages import say
from footplate.domain.metriclines import FILE_NAMES, GROUP_MARK

FIELD = "evaluation_metrics"
_BY_ITSELF = frozenset({"tensorboard", "simple_log_collector"})
_FILES = frozenset({"emetrics_file", "file", "optivist"})
_MOST_PATTERNS, _MOST_CHARS = 20, 1024
# What grok calls numbers and words, as far as metrics need them.
_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_GROK = {"INT": r"[-+]?[0-9]+", "NUMBER": _NUMBER, "BASE10NUM": _NUMBER, "WORD": r"\w+", "DATA": r".*?"}
_GROK_USE = re.compile(r"%\{(\w+)(?::(\w+))?(?::\w+)?\}")
_CAPTURE = re.compile(r"\(\?P<(\w+)>")
# Matching in linear time knows no look-around and no references to earlier captures.
_TOO_MUCH = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")
_STEPS = ("iteration", "step", "global_step", "iter")


def take_metrics(given: Any, ours: dict[str, Any], notes: Notes) -> None:
    """Take over how metrics are found; what cannot be is noted."""
    if not given:
        return
    kind = text(given.get("type")) if isinstance(given, Mapping) else ""
    if kind in _BY_ITSELF:
        notes.converted.append(say("ffdl_metrics_read"))
    elif kind in _FILES:
        _take_file(text(given.get("in")), notes)
    elif kind == "regex_extractor":
        _take_patterns(given.get("groups"), ours, notes)
    else:
        notes.lose(say("field_lost", field=FIELD))


def _take_file(place: str, notes: Notes) -> None:
    name = place.rpartition("/")[2]
    if name in FILE_NAMES:
        notes.converted.append(say("ffdl_metrics_read"))
    else:
        notes.lose(say("ffdl_metrics_file", given=name[:64], names=sorted(FILE_NAMES)))


def _take_patterns(groups: Any, ours: dict[str, Any], notes: Notes) -> None:
    found: list[str] = []
    for group, body in groups.items() if isinstance(groups, Mapping) else ():
        pattern = _pattern(text(group), body) if isinstance(body, Mapping) else None
        if pattern is None or len(found) >= _MOST_PATTERNS:
            notes.lose(say("ffdl_regex_lost", group=text(group)[:64]))
        else:
            found.append(pattern)
    if found:
        ours["log_metrics"] = found
        notes.became(f"{FIELD}.groups", "log_metrics")
    elif not groups:
        notes.lose(say("field_lost", field=FIELD))


def _pattern(group: str, body: Mapping[str, Any]) -> str | None:
    """An expression over one line whose captures are called as the metrics are; None where there is none."""
    given = text(body.get("regex"))
    names = dict(_names(group, body))
    if not given or not names or "\n" in given or _TOO_MUCH.search(given):
        return None
    spelt = _GROK_USE.sub(_grok, given)
    renamed = _CAPTURE.sub(lambda one: f"(?P<{names[one[1]]}>" if one[1] in names else "(?:", spelt)
    try:
        captures = re.compile(renamed).groupindex
    except re.error:
        return None
    has_metric = any(name not in ("step", "epoch") for name in captures)
    return renamed if has_metric and len(renamed) <= _MOST_CHARS else None


def _grok(used: re.Match[str]) -> str:
    spelt = _GROK.get(used[1], r"\S+")
    return f"(?P<{used[2]}>{spelt})" if used[2] else f"(?:{spelt})"


def _names(group: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What each capture is called: a metric of its group, the step, or the epoch."""
    prefix = f"{_word(group)}{GROUP_MARK}" if group else ""
    for name, capture in _captures(body.get("scalars")):
        yield capture, prefix + _word(name)
    for name, capture in _captures(body.get("etimes")):
        if name in _STEPS:
            yield capture, "step"
        elif name == "epoch":
            yield capture, "epoch"


def _captures(given: Any) -> Iterator[tuple[str, str]]:
    for name, value in given.items() if isinstance(given, Mapping) else ():
        told = text(value.get("value")) if isinstance(value, Mapping) else text(value)
        yield text(name), re.sub(r"\W", "", told) or text(name)


def _word(name: str) -> str:
    return re.sub(r"\W|__+", "_", name).strip("_") or "metric"
