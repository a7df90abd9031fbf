"""Redacts secret values in log lines, events and answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from footplate.domain.messages import Message, as_json, from_json

HIDDEN = "***"
# A shorter value is found in half of all words: hiding it would hide the text, and tell the value.
SHORTEST = 4


def redact(text: str, values: Iterable[str]) -> str:
    """Replace secret values in a text, also where they overlap, and each line of one that has several."""
    spans = sorted(span for needle in needles(values) for span in _places(text, needle))
    pieces, seen_to = [], 0
    for begin, end in joined(spans):
        pieces += [text[seen_to:begin], HIDDEN]
        seen_to = end
    return "".join((*pieces, text[seen_to:]))


def redact_message(said: Message, values: Iterable[str]) -> Message:
    """Replace secret values in everything that a message names."""
    wanted = needles(values)
    return from_json(redact_within(as_json(said), wanted)) if wanted else said


def redact_within(data: Any, wanted: Collection[str]) -> Any:
    """Replace secret values in all texts of plain data."""
    if isinstance(data, str):
        return redact(data, wanted)
    if isinstance(data, dict):
        return {name: redact_within(item, wanted) for name, item in data.items()}
    return [redact_within(item, wanted) for item in data] if isinstance(data, list) else data


def needles(values: Iterable[str]) -> set[str]:
    """What to look for: values that are long enough, and the lines of those that have several."""
    # A log shows a value of several lines line by line, often indented.
    parts = {part for value in values for part in (value, *map(str.strip, value.splitlines()))}
    return {part for part in parts if len(part) >= SHORTEST and part.strip()}


def _places(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + 1)


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make one of the spans that touch or overlap; they come sorted."""
    whole: list[tuple[int, int]] = []
    for begin, end in spans:
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((begin, end))
    return whole
