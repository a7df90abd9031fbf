"""Reads the indices of a job array, and writes the loop that submits a job for each."""

from __future__ import annotations

import re
from itertools import pairwise

MOST_INDICES = 10_000
_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")


def indices_of(text: str) -> list[int]:
    """The indices of `0-9`, `1,3,5`, `0-100:10` or `0-9%2`; none where it cannot be read or has too many."""
    found: list[int] = []
    for part in text.partition("%")[0].split(","):
        match = _PART.fullmatch(part)
        if not match:
            return []
        begin, end, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if step == 0 or (end - begin) // step >= MOST_INDICES:
            return []
        found += range(begin, end + 1, step)
    return found if len(found) <= MOST_INDICES else []


def loop_over(indices: list[int]) -> str:
    """The head of a shell's loop over indices."""
    steps = {after - before for before, after in pairwise(indices)}
    if len(indices) > 2 and len(steps) == 1 and min(steps) > 0:
        (step,) = steps
        counted = f"seq {indices[0]} {indices[-1]}" if step == 1 else f"seq {indices[0]} {step} {indices[-1]}"
        return f"for i in $({counted})"
    return f"for i in {' '.join(map(str, indices))}"
