"""Redacts secret values in log lines, events and answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from footplate.domain.messages import Message, as_json, from_json

HIDDEN = "••••"
# A shorter value is found in half of all words: hiding it would hide the text, and tell the value.
SHORTEST = 4


def redact(text: str, values: Iterable[str]) -> str:
    """Replace secret values in a text, also where they overlap, and each line of one that has several."""
    spans = sorted(span for needle in _needles(values) for span in _places(text, needle))
    pieces, seen_to = [], 0
    for begin, end in _joined(spans):
        pieces += [text[seen_to:begin], HIDDEN]
        seen_to = end
    return "".join((*pieces, text[seen_to:]))


def redact_message(said: Message, values: Iterable[str]) -> Message:
    """Replace secret values in everything that a message names."""
    needles = _needles(values)
    return from_json(_redact_within(as_json(said), needles)) if needles else said


def _redact_within(data: Any, needles: set[str]) -> Any:
    if isinstance(data, str):
        return redact(data, needles)
    if isinstance(data, dict):
        return {name: _redact_within(item, needles) for name, item in data.items()}
    return [_redact_within(item, needles) for item in data] if isinstance(data, list) else data


def _needles(values: Iterable[str]) -> set[str]:
    # A log shows a value of several lines line by line, often indented.
    parts = {part for value in values for part in (value, *map(str.strip, value.splitlines()))}
    return {part for part in parts if len(part) >= SHORTEST and part.strip()}


def _places(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + 1)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make one of the spans that touch or overlap; they come sorted."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
